//! `hookmem compact`: retention, one index part, and no byte of what was removed.

use std::io::Write;
use std::time::Duration;

use super::target::{Target, store_root};
use super::{Failure, written};
use crate::config::{Config, Environment};
use crate::deadline::Deadline;
use crate::store::{self, Retention};

/// How long other writers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Arguments of `compact`.
#[derive(Debug, clap::Args)]
pub struct CompactArgs {
    /// Which project.
    #[command(flatten)]
    pub target: Target,
}

/// Rewrites the project's store by the settings' retention.
///
/// # Errors
/// A store that cannot be written.
pub fn compact(args: &CompactArgs, environment: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let (config, _) = Config::load(store_root(environment)?);
    let project = args.target.known(environment)?;
    let done =
        store::compact(&project.store, retention(&config), Deadline::after(PATIENCE)).map_err(|e| e.to_string())?;
    written(writeln!(
        out,
        "{} records, {} expired, {} damaged lines dropped, journal {} -> {} bytes",
        done.documents, done.expired, done.damaged, done.bytes_before, done.bytes_after
    ))
}

/// The settings' limits; `0` means none.
pub fn retention(config: &Config) -> Retention {
    let limit = |value: u64| (value > 0).then_some(value);
    Retention {
        age: limit(config.retention.max_age_days).map(|days| Duration::from_secs(days.saturating_mul(86_400))),
        documents: limit(config.retention.max_records).map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        bytes: limit(config.retention.max_bytes),
    }
}
