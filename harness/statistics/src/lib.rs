//! The statistics that hookbench's gates and comparisons stand on.
//!
//! Guarantees: pure functions of their arguments. A seed fixes every random choice, so a saved run is judged the
//! same wherever it is read. No argument makes a function panic, NaN and infinities included; each function says
//! what such a value means to it.
//!
//! Deliberately not here: measuring, clocks, files, gate grammar, and any test that assumes independent samples
//! of two sequential blocks. Such a test is confidently wrong on a machine whose load comes in waves.

pub mod binomial;
pub mod combine;
pub mod holm;
pub mod normal;
pub mod order_statistic;
pub mod paired;
pub mod permutation;
pub mod rule;
pub mod wilson;

pub use self::binomial::{binomial_lower_tail, binomial_upper_tail};
pub use self::combine::{geometric_mean, inverse_variance, standard_error_of};
pub use self::holm::holm;
pub use self::order_statistic::{CONFIDENCE, Quantile, Ranks, needed, p_quantile_at_least, p_quantile_at_most, ranks};
pub use self::paired::{Interval, RESAMPLES, mean_interval, median_interval};
pub use self::permutation::{sign_flip_p, sign_test_p};
pub use self::rule::{
    Decision, FIRST_LOOK, LOOK_STEP, Rule, confirmation_pairs, minimum_detectable_effect, next_look, pairs_needed,
};
pub use self::wilson::wilson;
