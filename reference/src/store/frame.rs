//! One record in one line: `[length,crc32,{json}]` and a line feed.
//!
//! Every line is JSON by itself, so ordinary tools can read a journal. Length (bytes of the inner JSON) and CRC-32
//! (IEEE, of the same bytes) tell a torn or altered line from a whole one. Reading resumes at the next line feed
//! after damage; a line feed that was itself damaged does not take the following record with it, because the
//! length says where a record ends.

use std::io::{self, BufRead};

/// A longer line is not read, and not written.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// Appends the framed form of `json`, which must not hold a line feed, to `out`.
pub fn encode(json: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("[{},{},", json.len(), crc32fast::hash(json)).as_bytes());
    out.extend_from_slice(json);
    out.extend_from_slice(b"]\n");
}

/// The inner JSON of the frame at the start of `bytes` and the bytes behind its `]`; `None` when damaged.
pub fn decode(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = number(bytes.strip_prefix(b"[")?)?;
    let (checksum, rest) = number(rest)?;
    let (json, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    let rest = rest.strip_prefix(b"]")?;
    (u64::from(crc32fast::hash(json)) == checksum).then_some((json, rest))
}

/// Decimal digits and the comma behind them.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let comma = bytes.iter().take(12).position(|byte| *byte == b',')?;
    let (digits, rest) = bytes.split_at_checked(comma)?;
    let canonical = !digits.is_empty() && (digits.len() == 1 || !digits.starts_with(b"0"));
    let value = digits
        .iter()
        .try_fold(0_u64, |value, digit| digit.is_ascii_digit().then(|| value * 10 + u64::from(digit - b'0')))?;
    canonical.then_some((value, rest.get(1..)?))
}

/// What one pass over lines met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pass {
    /// Offset behind the last line that ended in a line feed or in a whole frame.
    pub end: u64,
    /// Lines that were whole lines and not whole records.
    pub damaged: u64,
}

/// Calls `visit(offset, json)` for each whole record from the reader's place on, which is `start` bytes into the
/// file. A damaged piece that ends without a line feed is left alone: it may be a write in progress. `visit`
/// returns false to stop early.
pub fn read(reader: &mut dyn BufRead, start: u64, visit: &mut dyn FnMut(u64, &[u8]) -> bool) -> io::Result<Pass> {
    let mut pass = Pass { end: start, damaged: 0 };
    let mut line = Vec::new();
    loop {
        line.clear();
        let offset = pass.end;
        let (length, ended) = read_line(reader, &mut line)?;
        if length == 0 {
            return Ok(pass);
        }
        let mut rest = line.as_slice();
        let mut whole = length == line.len() as u64;
        while whole && !rest.is_empty() && rest != b"\n" {
            let at = offset + (line.len() - rest.len()) as u64;
            match decode(rest) {
                Some((json, behind)) => {
                    rest = behind;
                    if !visit(at, json) {
                        pass.end = offset + (line.len() - rest.len()) as u64;
                        return Ok(pass);
                    }
                }
                // Between two frames stands one byte that should have been a line feed.
                None => match rest.get(1..).filter(|behind| rest.len() < line.len() && decode(behind).is_some()) {
                    Some(behind) => rest = behind,
                    None => whole = false,
                },
            }
        }
        if !whole && !ended {
            return Ok(pass);
        }
        pass.damaged += u64::from(!whole);
        pass.end = offset + length;
    }
}

/// Reads one line of at most [`MAX_LINE_BYTES`] into `line`, and past the rest of a longer one. Gives the bytes
/// taken and whether the line ended in a line feed.
fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<(u64, bool)> {
    let mut length = 0_u64;
    loop {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok((length, false));
        }
        let feed = memchr::memchr(b'\n', available);
        let taken = feed.map_or(available.len(), |at| at + 1);
        if line.len() + taken <= MAX_LINE_BYTES {
            line.extend_from_slice(available.get(..taken).unwrap_or(&[]));
        }
        reader.consume(taken);
        length += taken as u64;
        if feed.is_some() {
            return Ok((length, true));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn records(mut bytes: &[u8]) -> (Vec<String>, Pass) {
        let mut found = Vec::new();
        let pass = read(&mut bytes, 0, &mut |_, json| {
            found.push(String::from_utf8_lossy(json).into_owned());
            true
        });
        (found, pass.unwrap())
    }

    fn three() -> Vec<u8> {
        let mut bytes = Vec::new();
        for json in ["{\"a\":1}", "{\"b\":\"[2,3,\"}", "{\"c\":3}"] {
            encode(json.as_bytes(), &mut bytes);
        }
        bytes
    }

    #[test]
    fn every_line_is_json() {
        let bytes = three();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            serde_json::from_slice::<serde_json::Value>(line).unwrap();
        }
    }

    #[test]
    fn truncation_at_every_byte_keeps_the_records_before_it() {
        let bytes = three();
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        for cut in 0..=bytes.len() {
            let (found, pass) = records(&bytes[..cut]);
            assert_eq!(found.len(), ends.iter().filter(|end| **end <= cut).count(), "cut at {cut}");
            assert_eq!(pass.damaged, 0, "cut at {cut}");
        }
    }

    #[test]
    fn a_changed_byte_costs_one_record_at_most() {
        let bytes = three();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let (found, _) = records(&changed);
                assert!(found.len() >= 2, "byte {at}, bit {bit}: {found:?}");
            }
        }
    }

    #[test]
    fn a_torn_line_in_the_middle_is_counted_and_skipped() {
        let mut bytes = three();
        let torn = bytes.len();
        encode(b"{\"d\":4}", &mut bytes);
        bytes.truncate(torn + 5);
        bytes.push(b'\n');
        encode(b"{\"e\":5}", &mut bytes);
        let (found, pass) = records(&bytes);
        assert_eq!(found.last().map(String::as_str), Some("{\"e\":5}"));
        assert_eq!((found.len(), pass.damaged, pass.end), (4, 1, bytes.len() as u64));
    }
}
