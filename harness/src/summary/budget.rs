//! How much text a selection of steps put before the model.

use std::collections::BTreeMap;

use super::step::{Call, StepSummary};

/// In which measure injected text is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BudgetMeasure {
    /// UTF-8 bytes.
    Bytes,
    /// UTF-16 code units: what the host counts.
    Utf16,
    /// Tokens, estimated as one for every four bytes begun. An estimate, never a tokenizer's count.
    TokensEst,
}

impl BudgetMeasure {
    /// Its name in gates and reports.
    pub fn name(self) -> &'static str {
        match self {
            BudgetMeasure::Bytes => "bytes",
            BudgetMeasure::Utf16 => "utf16",
            BudgetMeasure::TokensEst => "tokens_est",
        }
    }

    /// Injected text of one call.
    pub fn of(self, call: &Call) -> u64 {
        match self {
            BudgetMeasure::Bytes => call.injected_bytes,
            BudgetMeasure::Utf16 => call.injected_utf16,
            BudgetMeasure::TokensEst => call.injected_bytes.div_ceil(4),
        }
    }
}

/// Injected text of a selection of steps in one measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Injected text of every call, rising.
    pub per_call: Vec<u64>,
    /// Largest total of any one round, so that repeating a run does not change it.
    pub round_sum: u64,
}

impl Budget {
    /// Counts the calls of some steps.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a StepSummary>, measure: BudgetMeasure) -> Budget {
        let mut per_call = Vec::new();
        let mut rounds: BTreeMap<u32, u64> = BTreeMap::new();
        for call in steps.into_iter().flat_map(StepSummary::calls) {
            let injected = measure.of(call);
            per_call.push(injected);
            let sum = rounds.entry(call.round).or_default();
            *sum = sum.saturating_add(injected);
        }
        per_call.sort_unstable();
        Budget { per_call, round_sum: rounds.into_values().max().unwrap_or(0) }
    }

    /// The largest call.
    pub fn max(&self) -> Option<u64> {
        self.per_call.last().copied()
    }
}
