//! Samples in rising order, and what their ranks say about a percentile.
//!
//! Times, ratios and budgets are all judged through this one type, so that a percentile means the same everywhere: the
//! sample at its rank, bounded by order statistics, with the p-value of the hypothesis that the bound is kept.

use hookbench_statistics::{needed, p_quantile_at_least, p_quantile_at_most, ranks};

use super::bound::Op;
use super::evidence::Evidence;
use super::expr::GateExpr;
use crate::latency::{Distribution, Quantile};

/// Rising samples in base units (microseconds, ratios, bytes), each with its count.
#[derive(Debug)]
pub(super) struct Samples {
    counted: Vec<(f64, u64)>,
    n: u64,
}

impl Samples {
    /// The buckets of a distribution, in microseconds.
    pub(super) fn of_times(times: &Distribution) -> Samples {
        Samples { counted: times.buckets().map(|(us, count)| (us as f64, count)).collect(), n: times.count() }
    }

    /// Figures that rise already.
    pub(super) fn of_rising(figures: impl IntoIterator<Item = f64>) -> Samples {
        let counted: Vec<(f64, u64)> = figures.into_iter().map(|figure| (figure, 1)).collect();
        Samples { n: counted.len() as u64, counted }
    }

    /// Ranks count from 1.
    fn at_rank(&self, rank: u64) -> Option<f64> {
        let mut seen = 0;
        let reached = |(_, count): &&(f64, u64)| {
            seen += *count;
            seen >= rank
        };
        self.counted.iter().find(reached).map(|(figure, _)| *figure)
    }

    fn n_where(&self, holds: impl Fn(f64) -> bool) -> u64 {
        self.counted.iter().filter(|(figure, _)| holds(*figure)).map(|(_, count)| *count).sum()
    }

    /// The percentile as evidence for a gate.
    pub(super) fn percentile(&self, expr: &GateExpr, quantile: Quantile) -> Evidence {
        let confidence = expr.options.confidence();
        let bounds = ranks(self.n, quantile, confidence);
        let need = needed(quantile, confidence);
        Evidence::Bounded {
            estimate: self.at_rank(quantile.rank(self.n)).filter(|_| self.n >= need),
            low: bounds.lower.and_then(|rank| self.at_rank(rank)),
            high: bounds.upper.and_then(|rank| self.at_rank(rank)),
            n: self.n,
            need: expr.options.min_n.unwrap_or(need),
            p_kept: self.p_kept(expr, quantile),
        }
    }

    /// One-sided p of the hypothesis that the percentile keeps the bound.
    fn p_kept(&self, expr: &GateExpr, quantile: Quantile) -> f64 {
        let n_holding = |op: Op| self.n_where(|figure| op.holds(expr.in_unit(figure), expr.bound.number));
        match expr.op {
            Op::Le | Op::Lt => p_quantile_at_most(self.n, n_holding(expr.op), quantile),
            Op::Ge | Op::Gt => p_quantile_at_least(self.n, self.n - n_holding(expr.op), quantile),
            // Broken on either side, each at the gate's confidence, as the bounds are.
            Op::Eq => {
                let above = p_quantile_at_most(self.n, n_holding(Op::Le), quantile);
                above.min(p_quantile_at_least(self.n, n_holding(Op::Lt), quantile))
            }
        }
    }
}
