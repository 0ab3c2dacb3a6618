//! Sorted tables of 64-bit hashes in mapped bytes, found without reading the table.
//!
//! A table is two arrays, little-endian: keys (`u64`, ascending, unique) and values (`u32` at the same index).
//! Hashes are spread evenly, so the place of one is guessed and the search widens from there: two or three pages
//! of a table of any size (`side` reads large ones block by block instead). Bytes that are not a table give a
//! wrong answer or none, never a panic.

/// Reads the `u32` at `index` of an array.
pub fn u32_at(array: &[u8], index: usize) -> Option<u32> {
    let bytes = array.get(index.checked_mul(4)?..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// Reads the `u64` at `index` of an array.
pub fn u64_at(array: &[u8], index: usize) -> Option<u64> {
    let bytes = array.get(index.checked_mul(8)?..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Reads the `i64` at byte `at`.
pub fn i64_at_byte(array: &[u8], at: usize) -> Option<i64> {
    array.get(at..)?.first_chunk::<8>().map(|bytes| i64::from_le_bytes(*bytes))
}

/// The index of `key` in an array of keys.
pub fn find(keys: &[u8], key: u64) -> Option<usize> {
    let count = keys.len() / 8;
    let guess = usize::try_from((u128::from(key) * count as u128) >> 64).ok()?;
    // Widen until low is at or before the key and high behind it.
    let (mut low, mut step) = (guess, 8);
    while low > 0 && u64_at(keys, low)? > key {
        low = low.saturating_sub(step);
        step *= 2;
    }
    let (mut high, mut step) = (guess + 1, 8);
    while high < count && u64_at(keys, high)? <= key {
        high = (high + step).min(count);
        step *= 2;
    }
    search(keys, key, low, high)
}

/// The index of `key` in a short array of keys, by bisection.
pub fn find_in_block(keys: &[u8], key: u64) -> Option<usize> {
    search(keys, key, 0, keys.len() / 8)
}

fn search(keys: &[u8], key: u64, mut low: usize, mut high: usize) -> Option<usize> {
    while low < high {
        let middle = low + (high - low) / 2;
        match u64_at(keys, middle)?.cmp(&key) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_no_other() {
        for count in [0_u64, 1, 2, 3, 17, 1_000] {
            for spread in [1, u64::MAX / 1_001] {
                let keys: Vec<u8> = (0..count).flat_map(|n| (n * spread).to_le_bytes()).collect();
                for n in 0..count {
                    assert_eq!(find(&keys, n * spread), usize::try_from(n).ok());
                    assert!(spread == 1 || find(&keys, n * spread + 1).is_none());
                }
                assert_eq!(find(&keys, u64::MAX), None);
            }
        }
    }
}
