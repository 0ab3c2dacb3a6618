//! What one session of the host remembers between hook calls: its prompt, its pending sub-agent tasks, what it was
//! shown, where its last capture ended.
//!
//! One small append-only file a session, named by a hash of the session id. Guarantee: reading never fails (a bad
//! line is passed over), appending is one write under a short lock, and when the state cannot be kept the answers
//! lean towards injecting once too often rather than losing something. Nothing here is durable by `fsync`: the
//! store holds what must not be lost. Texts come in redacted; this folder keeps what it is given.

pub mod claim;
pub mod entry;
pub mod file;
pub mod name;
pub mod prune;
pub mod state;
