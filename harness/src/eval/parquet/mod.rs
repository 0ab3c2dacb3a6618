//! Scores of an evaluation as a Parquet file, for DuckDB, DataFusion or pandas: one row a run and query.
//!
//! Behind the cargo feature `parquet`, as the calls of a run are: `enabled` and `disabled` have the same interface.
//! Columns are append-only: a new one comes last and old ones keep their name and type.

#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod enabled;

#[cfg(not(feature = "parquet"))]
pub use self::disabled::{Table, create};
#[cfg(feature = "parquet")]
pub use self::enabled::{Table, create};
