//! What a value's bytes look like: counts of character classes and of the changes between them.
//!
//! Generated text changes class at about every second byte, words hardly ever; that tells them apart
//! without a dictionary. Not here: what the counts mean for a name.

use super::bytes::slice;
use super::value::REACH;

/// Counts over a value's bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) len: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) symbols: usize,
    pub(super) spaces: usize,
    pub(super) wide: usize,
    /// Neighbouring letters or digits of different class.
    pub(super) turns: usize,
    /// Number of different byte values.
    pub(super) distinct: u32,
    pub(super) hex: bool,
}

/// Counts at most [`REACH`] bytes.
pub(super) fn look(value: &[u8]) -> Look {
    let mut found = Look { hex: true, ..Look::default() };
    let mut seen = [0_u64; 4];
    let mut last = 0;
    for &byte in slice(value, 0, REACH) {
        found.len += 1;
        let class = match byte {
            b'0'..=b'9' => {
                found.digits += 1;
                1
            }
            b'A'..=b'Z' => {
                found.upper += 1;
                2
            }
            b'a'..=b'z' => {
                found.lower += 1;
                3
            }
            b' ' | b'\t' => {
                found.spaces += 1;
                0
            }
            0x80.. => {
                found.wide += 1;
                0
            }
            _ => {
                found.symbols += 1;
                0
            }
        };
        found.hex &= byte.is_ascii_hexdigit();
        if class != 0 && last != 0 && class != last {
            found.turns += 1;
        }
        last = class;
        if let Some(word) = seen.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }
    found.distinct = seen.iter().map(|word| word.count_ones()).sum();
    found
}

impl Look {
    pub(super) fn letters(&self) -> usize {
        self.upper + self.lower
    }

    /// Mixed the way generated text is: many class changes for its length.
    pub(super) fn is_random(&self) -> bool {
        self.len >= 12 && self.digits >= 2 && self.letters() >= 2 && self.spaces == 0 && self.turns * 4 >= self.len
    }

    /// Long and without words although digits may be few.
    pub(super) fn is_mixed(&self) -> bool {
        let is_long = self.len >= 16 && self.spaces == 0;
        self.is_random()
            || is_long && self.upper >= 3 && self.turns * 3 >= self.len
            || is_long && self.upper >= 2 && self.digits >= 1 && self.turns * 4 >= self.len
    }
}

/// 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
