//! The calls of a run as a Parquet file, for DuckDB, DataFusion or pandas: one row a call, both arms.
//!
//! Behind the cargo feature `parquet`: `enabled` and `disabled` have the same function, and the caller does not know which one
//! it got. Columns are append-only: a new one comes last and old ones keep their name and type.

#[cfg(feature = "parquet")]
pub(crate) mod columns;
#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod enabled;

#[cfg(not(feature = "parquet"))]
pub use self::disabled::write;
#[cfg(feature = "parquet")]
pub use self::enabled::write;
