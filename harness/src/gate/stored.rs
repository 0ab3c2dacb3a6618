//! The saved runs that gates name by `vs file:PATH`, read once before anything is judged.
//!
//! Paths are taken from the working folder, as those of all other options are.

use std::collections::BTreeMap;
use std::path::Path;

use super::expr::Base;
use super::file::Gate;
use crate::failure::Failure;
use crate::record;
use crate::summary::Summary;

/// Saved runs by the path that a gate gives.
#[derive(Debug, Default)]
pub struct Stored {
    runs: BTreeMap<String, Summary>,
}

impl Stored {
    /// Reads every run that a gate names.
    ///
    /// # Errors
    /// A usage failure that names the gate, for the first path that holds no readable run.
    pub fn load(gates: &[Gate]) -> Result<Stored, Failure> {
        let mut stored = Stored::default();
        for gate in gates {
            let Some(Base::File(path)) = &gate.expr.base else { continue };
            if stored.runs.contains_key(path) {
                continue;
            }
            let run = record::replay(Path::new(path))
                .map_err(|fault| Failure::usage(format!("gate {}", gate.name), fault.to_string(), fault.remedy()))?;
            stored.runs.insert(path.clone(), run);
        }
        Ok(stored)
    }

    /// The run behind a path.
    pub(super) fn get(&self, path: &str) -> Option<&Summary> {
        self.runs.get(path)
    }

    /// A saved run that is in memory already.
    #[cfg(test)]
    pub(crate) fn of(path: &str, run: Summary) -> Stored {
        Stored { runs: BTreeMap::from([(path.to_owned(), run)]) }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    #[test]
    fn only_runs_that_a_gate_names_are_read() {
        let gate = |text: &str| Gate::parse(text).unwrap();
        let none = Stored::load(&[gate("leak.count == 0"), gate("latency.cpu.p50 <= 4x vs noop")]).unwrap();
        assert!(none.runs.is_empty());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nothing-here");
        let fault = Stored::load(&[gate(&format!("cap: leak.count <= +0% vs file:{}", path.display()))]).unwrap_err();
        assert!(fault.to_string().contains("gate cap") && fault.to_string().contains("nothing-here"), "{fault}");
    }
}
