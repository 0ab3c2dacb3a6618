//! Reading the host's session file: a bounded tail, tolerant lines, and what a stretch of them says.
//!
//! Guarantee: at most [`tail::Limits::most`] bytes of one window are read and one line is held at a time,
//! whatever the path names; nothing here fails, an unreadable transcript is an empty one. The file format is
//! the host's internal matter, so every line may be missing, torn, of unknown type or of wrong types.
//! Deliberately not here: what is worth remembering (see `capture`).

pub mod edit;
pub mod line;
pub mod span;
pub mod tail;

#[cfg(test)]
mod tests;
