//! How many warm rounds are measured.

use std::str::FromStr;

use hookbench_statistics::FIRST_LOOK;

/// Most rounds that can be asked for.
const MOST: u32 = 100_000;

/// When the measuring of pairs ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// When the gates are precise enough.
    Auto,
    /// After this many.
    Fixed(u32),
}

impl Pairs {
    /// Pairs to measure before anything is looked at.
    pub fn first_goal(self) -> u32 {
        match self {
            Pairs::Auto => u32::try_from(FIRST_LOOK).unwrap_or(MOST),
            Pairs::Fixed(n) => n,
        }
    }

    /// Pairs to measure on to, now that there are `n`; `wanted` says what the gates would like.
    ///
    /// Always more than there are, or `None`.
    pub fn next_goal(self, n: u32, wanted: impl FnOnce() -> Option<usize>) -> Option<u32> {
        match self {
            Pairs::Fixed(_) => None,
            Pairs::Auto if n >= MOST => None,
            Pairs::Auto => {
                wanted().map(|wanted| u32::try_from(wanted).unwrap_or(MOST).clamp(n.saturating_add(1), MOST))
            }
        }
    }
}

impl FromStr for Pairs {
    type Err = String;

    fn from_str(text: &str) -> Result<Pairs, String> {
        if text == "auto" {
            return Ok(Pairs::Auto);
        }
        let number = text.parse().ok().filter(|n| (1..=MOST).contains(n));
        number.map(Pairs::Fixed).ok_or_else(|| format!("write `auto`, or a number from 1 to {MOST}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_auto() {
        assert_eq!("auto".parse(), Ok(Pairs::Auto));
        assert_eq!("1".parse(), Ok(Pairs::Fixed(1)));
        assert_eq!("100000".parse(), Ok(Pairs::Fixed(100_000)));
        for wrong in ["0", "100001", "-1", "many", ""] {
            assert!(wrong.parse::<Pairs>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_fixed_number_asks_no_gate() {
        assert_eq!(Pairs::Fixed(7).first_goal(), 7);
        assert_eq!(Pairs::Fixed(7).next_goal(7, || Some(100)), None);
    }

    #[test]
    fn auto_goes_on_as_the_gates_want_and_always_forward() {
        assert_eq!(Pairs::Auto.first_goal(), 20);
        assert_eq!(Pairs::Auto.next_goal(20, || None), None);
        assert_eq!(Pairs::Auto.next_goal(20, || Some(30)), Some(30));
        assert_eq!(Pairs::Auto.next_goal(20, || Some(20)), Some(21));
        assert_eq!(Pairs::Auto.next_goal(99_999, || Some(200_000)), Some(100_000));
        assert_eq!(Pairs::Auto.next_goal(100_000, || Some(200_000)), None);
    }
}
