//! Turns a session id, which is anybody's text, into a file name and into a part of an identifier.
//!
//! Guarantee: the file name is 32 hexadecimal digits and `.jsonl`, whatever the id holds; a readable id stays
//! readable in identifiers and every other one becomes `x-` and its hash.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_128;

/// File name of a session's state.
pub fn file_name(session_id: &str) -> String {
    format!("{:032x}.jsonl", xxh3_128(session_id.as_bytes()))
}

/// The id as it may stand in identifiers: at most 64 letters, digits, `-`, `_` or `.`.
pub fn safe_id(session_id: &str) -> Cow<'_, str> {
    let plain = !session_id.is_empty()
        && session_id.len() <= 64
        && !session_id.starts_with('.')
        && session_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if plain { Cow::Borrowed(session_id) } else { Cow::Owned(format!("x-{:032x}", xxh3_128(session_id.as_bytes()))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_session_ids_cannot_leave_the_folder() {
        for id in ["../../etc/passwd", "a/b", "", ".", "..", "a\0b", "x\ny", &"a".repeat(5000), "世界"] {
            let name = file_name(id);
            assert_eq!(name.len(), 38, "{id}");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'));
            assert!(safe_id(id).starts_with("x-") && safe_id(id).len() == 34, "{id}");
        }
        let plain = "ade2dedc-3d51-4280-b056-ee76fbd85991";
        assert_eq!(safe_id(plain), plain);
        assert_ne!(file_name("a"), file_name("b"));
    }
}
