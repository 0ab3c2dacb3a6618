//! Which revision a memory was captured at, and how that revision relates to the present one.
//!
//! Reading `HEAD` costs microseconds and is done in every call; asking git for ancestry is done only for the
//! few memories about to be shown, within a bounded walk and the call's deadline. Nothing here changes a repository.

mod ancestry;
mod digest;
mod head;

pub use ancestry::{Ancestry, AncestryCache, RevisionStatus, relate, remember_ancestors};
pub use digest::{digest_file, digests_match, is_dirty};
pub use head::{Head, read_head};
