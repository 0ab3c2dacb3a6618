//! A multi-pattern automaton built by the compiler.
//!
//! Its job is to say where something worth a closer look stands, in one table step a byte and with no
//! construction at run time: a hook process lives for milliseconds and cannot afford to build an
//! Aho-Corasick machine first. Letters are matched without case; verifiers look at the real bytes.
//! Not here: any judgement whether a mark is a secret.

use super::mark::MARKS;

/// Columns of the transition table; more than there are byte classes.
const STRIDE: usize = 96;
/// Upper bound of states: the root and one for each byte of each mark.
const STATES: usize = 1 + total_length();
/// Set on a transition whose target state ends at least one mark.
const HIT: u16 = 0x8000;

static CLASS: [u8; 256] = classes();
static MACHINE: Machine = build();

struct Machine {
    /// Row-major transitions, `state * STRIDE + class`.
    next: [u16; STATES * STRIDE],
    /// Mark that ends in a state, plus one; 0 when none does.
    mark: [u16; STATES],
    /// Nearest proper suffix state that ends a mark; 0 when there is none.
    suffix: [u16; STATES],
}

/// A position in the automaton.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State(u16);

impl State {
    /// Takes one byte; true when at least one mark ends with it.
    #[inline]
    pub(super) fn step(&mut self, byte: u8) -> bool {
        let class = CLASS.get(usize::from(byte)).copied().unwrap_or(0);
        let cell = usize::from(self.0) * STRIDE + usize::from(class);
        let next = MACHINE.next.get(cell).copied().unwrap_or(0);
        self.0 = next & !HIT;
        next & HIT != 0
    }

    /// Indices into [`MARKS`] of the marks that end here, longest first.
    pub(super) fn marks(self) -> impl Iterator<Item = usize> {
        let mut state = self.0;
        std::iter::from_fn(move || {
            let at = usize::from(state);
            if state == 0 {
                return None;
            }
            let mark = MACHINE.mark.get(at).copied().unwrap_or(0);
            state = MACHINE.suffix.get(at).copied().unwrap_or(0);
            Some(usize::from(mark).checked_sub(1))
        })
        .flatten()
    }
}

const fn total_length() -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < MARKS.len() {
        sum += MARKS[i].0.len();
        i += 1;
    }
    sum
}

const fn classes() -> [u8; 256] {
    let mut class = [0_u8; 256];
    let mut count = 0_u8;
    let mut i = 0;
    while i < MARKS.len() {
        let pattern = MARKS[i].0.as_bytes();
        let mut j = 0;
        while j < pattern.len() {
            let byte = pattern[j];
            assert!(!byte.is_ascii_uppercase(), "marks are written in lower case");
            if class[byte as usize] == 0 {
                count += 1;
                assert!((count as usize) < STRIDE, "more byte classes than columns");
                class[byte as usize] = count;
                class[byte.to_ascii_uppercase() as usize] = count;
            }
            j += 1;
        }
        i += 1;
    }
    class
}

const fn build() -> Machine {
    let class = classes();
    let mut next = [0_u16; STATES * STRIDE];
    let mut mark = [0_u16; STATES];
    let mut suffix = [0_u16; STATES];
    let mut used = 1;
    // Level by level, so that the states every text passes through share few pages.
    let mut reached = [0_u16; MARKS.len()];
    let (mut depth, mut open) = (0, true);
    while open {
        open = false;
        let mut i = 0;
        while i < MARKS.len() {
            let pattern = MARKS[i].0.as_bytes();
            if depth < pattern.len() {
                open = true;
                let cell = reached[i] as usize * STRIDE + class[pattern[depth] as usize] as usize;
                if next[cell] == 0 {
                    next[cell] = used as u16;
                    used += 1;
                }
                reached[i] = next[cell];
                if depth + 1 == pattern.len() {
                    assert!(mark[reached[i] as usize] == 0, "a mark stands twice");
                    mark[reached[i] as usize] = i as u16 + 1;
                }
            }
            i += 1;
        }
        depth += 1;
    }
    // Breadth first: a state's failure state is shallower, so its row is complete when it is copied.
    let mut fail = [0_u16; STATES];
    let mut queue = [0_u16; STATES];
    let (mut head, mut tail) = (0, 1);
    while head < tail {
        let state = queue[head] as usize;
        head += 1;
        let mut column = 0;
        while column < STRIDE {
            let cell = state * STRIDE + column;
            let inherited = if state == 0 { 0 } else { next[fail[state] as usize * STRIDE + column] };
            let child = next[cell] as usize;
            if child == 0 {
                next[cell] = inherited;
            } else {
                let failure = (inherited & !HIT) as usize;
                fail[child] = failure as u16;
                suffix[child] = if mark[failure] == 0 { suffix[failure] } else { failure as u16 };
                queue[tail] = child as u16;
                tail += 1;
                if mark[child] != 0 || suffix[child] != 0 {
                    next[cell] |= HIT;
                }
            }
            column += 1;
        }
    }
    Machine { next, mark, suffix }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&'static str> {
        let mut state = State::default();
        let mut all = Vec::new();
        for byte in text.bytes() {
            if state.step(byte) {
                all.extend(state.marks().map(|mark| MARKS[mark].0));
            }
        }
        all
    }

    #[test]
    fn marks_are_found_without_case_and_inside_words() {
        assert_eq!(found("my DB_PassWord"), ["pass"]);
        assert_eq!(found("monKEY"), ["key"]);
    }

    #[test]
    fn every_mark_is_found_in_itself() {
        for (pattern, _) in MARKS {
            assert!(found(pattern).contains(pattern), "{pattern}");
        }
    }

    #[test]
    fn plain_prose_has_no_mark() {
        assert!(found("The quick brown fox jumps over a lazy dog\n").is_empty());
    }
}
