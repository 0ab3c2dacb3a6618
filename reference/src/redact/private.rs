//! Blocks that the user marked as private.
//!
//! `<private>…</private>` goes with everything in it: in any case, nested, and to the end of the text
//! when it is not closed. Nothing is left in its place but a space where two words would join. The
//! work is linear. Not here: secrets outside of such blocks.

use std::borrow::Cow;

use super::bytes::{at, skip, slice, starts};

/// Drops private blocks. Borrows when there are none.
pub fn drop_private(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if !marks(bytes).any(|index| opens(bytes, index).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut kept) = (0_usize, 0);
    for index in marks(bytes) {
        if let Some(end) = opens(bytes, index) {
            if depth == 0 {
                push(&mut out, text.get(kept..index).unwrap_or(""));
            }
            depth += 1;
            kept = end;
        } else if depth > 0
            && let Some(end) = closes(bytes, index)
        {
            depth -= 1;
            kept = end;
        }
    }
    if depth == 0 {
        push(&mut out, text.get(kept..).unwrap_or(""));
    }
    Cow::Owned(out)
}

/// Positions of `<`.
fn marks(text: &[u8]) -> impl Iterator<Item = usize> {
    text.iter().enumerate().filter(|(_, byte)| **byte == b'<').map(|(index, _)| index)
}

/// Joins two pieces so that they can neither form a new word nor a new tag.
fn push(out: &mut String, piece: &str) {
    let joins = !out.is_empty() && !out.ends_with(char::is_whitespace) && !piece.starts_with(char::is_whitespace);
    if joins && !piece.is_empty() {
        out.push(' ');
    }
    out.push_str(piece);
}

/// One past `<private>` at `index`; attributes and blanks are allowed.
fn opens(text: &[u8], index: usize) -> Option<usize> {
    tag_end(text, skip(text, index + 1, 8, |byte| byte.is_ascii_whitespace()))
}

/// One past `</private>` at `index`.
fn closes(text: &[u8], index: usize) -> Option<usize> {
    let slash = skip(text, index + 1, 8, |byte| byte.is_ascii_whitespace());
    if at(text, slash) != b'/' {
        return None;
    }
    tag_end(text, skip(text, slash + 1, 8, |byte| byte.is_ascii_whitespace()))
}

fn tag_end(text: &[u8], name: usize) -> Option<usize> {
    if !starts(text, name, "private") {
        return None;
    }
    let behind = name + "private".len();
    let end = skip(text, behind, 128, |byte| byte != b'>' && byte != b'<' && byte != b'\n');
    let is_name = at(text, behind) == b'>' || at(text, behind).is_ascii_whitespace() || at(text, behind) == b'/';
    let is_closed = at(text, end) == b'>' && !slice(text, behind, end).contains(&b'(');
    (is_name && is_closed).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::drop_private;

    #[test]
    fn private_block_goes_and_the_sentence_stays() {
        assert_eq!(drop_private("keep <private>gone</private> this"), "keep  this");
        assert_eq!(drop_private("a<PRIVATE>x</Private>b"), "a b");
    }

    #[test]
    fn unclosed_block_goes_to_the_end() {
        assert_eq!(drop_private("keep <private>gone\nand gone"), "keep ");
    }

    #[test]
    fn nested_block_ends_at_its_own_close() {
        assert_eq!(drop_private("a <private>b <private>c</private> d</private> e"), "a  e");
    }

    #[test]
    fn text_that_joins_does_not_open_a_new_block() {
        let once = drop_private("<pri<private>x</private>vate> tail").into_owned();
        assert_eq!(once, "<pri vate> tail");
        assert_eq!(drop_private(&once), once);
    }

    #[test]
    fn generic_type_named_private_is_no_block() {
        let text = "Vec<PrivateKey> and a lone </private>";
        assert_eq!(drop_private(text), text);
    }
}
