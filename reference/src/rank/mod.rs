//! Ranking: which records answer a query, and whether any is worth showing.
//!
//! A straight line over plain data: [`rank`] scores, [`Gate::select`] decides. Both see an index only through
//! [`crate::store::postings::Postings`] and never read text, files, clocks or settings.
//! Which text becomes which indexed term is in [`fields`]; routing to segments is elsewhere (`crate::route`).

pub mod collection;
pub mod decisions;
pub mod fields;
pub mod gate;
pub mod memory;
pub mod profiles;
pub mod quality;
pub mod score;
pub mod supersede;
pub mod weights;

pub use gate::Gate;
pub use memory::MemoryIndex;
pub use score::{Hit, Ranking, rank};
pub use weights::Weights;
