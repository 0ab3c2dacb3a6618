//! Sentences with code in them, as this program writes them: between backticks.

use serde::Serialize;

/// A stretch of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Piece {
    code: bool,
    text: String,
}

/// The stretches of a sentence in order; a backtick without its partner stays what it is.
pub(super) fn pieces(sentence: &str) -> Vec<Piece> {
    if sentence.is_empty() {
        return Vec::new();
    }
    if sentence.matches('`').count() % 2 == 1 {
        return vec![Piece { code: false, text: sentence.to_owned() }];
    }
    let stretches = sentence.split('`').enumerate();
    stretches
        .map(|(nth, text)| Piece { code: nth % 2 == 1, text: text.to_owned() })
        .filter(|piece| !piece.text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_between_backticks() {
        let shown = |text| pieces(text).into_iter().map(|piece| (piece.code, piece.text)).collect::<Vec<_>>();
        assert_eq!(shown("run `a b` now"), [(false, "run ".into()), (true, "a b".into()), (false, " now".into())]);
        assert_eq!(shown("`a`"), [(true, "a".into())]);
        assert_eq!(shown("5` wide"), [(false, "5` wide".into())]);
        assert_eq!(shown(""), []);
    }
}
