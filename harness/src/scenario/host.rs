//! Which client versions a scenario is for.
//!
//! A range is a list of bounds that all hold: `2.1.332`, `=2.1.197`, `>=2.1.197, <2.1.300`. Versions are three
//! numbers; there are no pre-releases and no wildcards. Which versions are modelled is the contract crate's
//! knowledge.

use std::fmt;

/// A range of client versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostRange {
    bounds: Vec<(Bound, [u32; 3])>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

const SIGNS: [(&str, Bound); 5] =
    [(">=", Bound::AtLeast), ("<=", Bound::AtMost), (">", Bound::Above), ("<", Bound::Below), ("=", Bound::Equal)];

impl HostRange {
    /// The range written as `text`, or what is wrong with it.
    ///
    /// # Errors
    /// One sentence that names the part which is no bound.
    pub fn parse(text: &str) -> Result<HostRange, String> {
        let bounds = text.split(',').map(|part| bound(part.trim())).collect::<Result<Vec<_>, String>>()?;
        Ok(HostRange { bounds })
    }

    /// True when this version is in the range. Text that is no version is in no range but the open one.
    pub fn admits(&self, version: &str) -> bool {
        let Some(version) = numbers(version) else { return self.bounds.is_empty() };
        self.bounds.iter().all(|(bound, limit)| match bound {
            Bound::Equal => version == *limit,
            Bound::AtLeast => version >= *limit,
            Bound::Above => version > *limit,
            Bound::AtMost => version <= *limit,
            Bound::Below => version < *limit,
        })
    }

    /// The newest of the known versions that is in the range.
    pub fn newest<'v>(&self, known: &[&'v str]) -> Option<&'v str> {
        known.iter().copied().filter(|version| self.admits(version)).max_by_key(|version| numbers(version))
    }
}

impl fmt::Display for HostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bounds.is_empty() {
            return f.write_str("any");
        }
        for (index, (bound, [major, minor, patch])) in self.bounds.iter().enumerate() {
            let sign = SIGNS.iter().find(|(_, b)| b == bound).map_or("", |(sign, _)| sign);
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{sign}{major}.{minor}.{patch}")?;
        }
        Ok(())
    }
}

fn bound(part: &str) -> Result<(Bound, [u32; 3]), String> {
    let (sign, bound) = SIGNS.into_iter().find(|(sign, _)| part.starts_with(sign)).unwrap_or(("", Bound::Equal));
    let version = part.get(sign.len()..).unwrap_or_default().trim();
    numbers(version).map(|numbers| (bound, numbers)).ok_or_else(|| format!("`{part}` is not a version or a bound"))
}

fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn range_picks_the_newest_version_inside_it() {
        let known = ["2.1.197", "2.1.332"];
        let cases = [
            ("2.1.197", Some("2.1.197")),
            (">=2.1.100", Some("2.1.332")),
            (">=2.1.197, <2.1.300", Some("2.1.197")),
            ("> 2.1.332", None),
        ];
        for (text, expected) in cases {
            assert_eq!(HostRange::parse(text).unwrap().newest(&known), expected, "for {text}");
        }
        assert_eq!(HostRange::default().newest(&known), Some("2.1.332"));
    }

    #[test]
    fn display_gives_back_what_was_parsed() {
        assert_eq!(HostRange::parse(">= 2.1.197,<2.1.300").unwrap().to_string(), ">=2.1.197, <2.1.300");
        assert_eq!(HostRange::default().to_string(), "any");
    }

    #[test]
    fn part_that_is_no_version_is_named() {
        assert_eq!(HostRange::parse(">=2.1.1, newest").unwrap_err(), "`newest` is not a version or a bound");
        assert!(HostRange::parse("2.1").is_err());
    }
}
