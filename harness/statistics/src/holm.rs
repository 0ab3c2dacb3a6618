//! Holm's correction: many gates of one run share one error rate.
//!
//! Guarantee: comparing each adjusted p with a level α keeps the chance of any false alarm at or below α,
//! however the gates depend on each other. Nothing is assumed independent; two hooks on one machine are not.

/// Adjusted p-values in the order given: the i-th smallest of m becomes the largest of (m − j + 1)·p_j over
/// j ≤ i, at most 1 (Holm 1979).
///
/// A NaN is a gate that could not be tested: it counts among the tests and gets 1. A p outside 0 to 1 is drawn to
/// the nearer end.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut ordered: Vec<(usize, f64)> =
        p.iter().map(|p| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }).enumerate().collect();
    ordered.sort_by(|left, right| left.1.total_cmp(&right.1));
    let remaining = (1..=p.len()).rev();
    let mut largest = 0.0_f64;
    for ((_, p), remaining) in ordered.iter_mut().zip(remaining) {
        largest = largest.max(*p * remaining as f64).min(1.0);
        *p = largest;
    }
    ordered.sort_by_key(|(place, _)| *place);
    ordered.into_iter().map(|(_, p)| p).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(left: &[f64], right: &[f64]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(left, right)| (left - right).abs() < 1e-12)
    }

    #[test]
    fn worked_example_agrees_with_the_hand_calculation() {
        // Sorted .005 .01 .03 .04 times 4 3 2 1: .02 .03 .06 .04, and the last is drawn up to .06.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        assert!(close(&adjusted, &[0.03, 0.06, 0.06, 0.02]), "{adjusted:?}");
    }

    #[test]
    fn one_gate_is_left_as_it_is() {
        assert_eq!(holm(&[0.025]), [0.025]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn nothing_exceeds_one() {
        assert_eq!(holm(&[0.9, 0.6, 0.8]), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn untested_gates_count_and_never_turn_red() {
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert_eq!(holm(&[f64::INFINITY, -1.0]), [1.0, 0.0]);
    }

    /// Rejects step by step, as the paper words it: the smallest p of the remaining m against α / m.
    fn rejected_at(level: f64, p: &[f64]) -> Vec<bool> {
        let mut rejected = vec![false; p.len()];
        loop {
            let remaining: Vec<usize> = (0..p.len()).filter(|place| !rejected[*place]).collect();
            let smallest = remaining.iter().copied().min_by(|left, right| p[*left].total_cmp(&p[*right]));
            match smallest {
                Some(place) if p[place] * remaining.len() as f64 <= level => rejected[place] = true,
                _ => return rejected,
            }
        }
    }

    proptest! {
        #[test]
        fn adjusted_values_reject_what_the_stepwise_procedure_rejects(
            p in prop::collection::vec(0.0..=1.0, 0..12),
            level in 0.0..1.0,
        ) {
            let adjusted: Vec<bool> = holm(&p).into_iter().map(|p| p <= level).collect();
            prop_assert_eq!(adjusted, rejected_at(level, &p));
        }

        #[test]
        fn adjusted_values_keep_the_order_and_exceed_the_raw_ones(p in prop::collection::vec(0.0..=1.0, 2..12)) {
            let adjusted = holm(&p);
            for i in 0..p.len() {
                prop_assert!(p[i] <= adjusted[i] && adjusted[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
