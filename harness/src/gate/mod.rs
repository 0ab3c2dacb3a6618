//! Gates: bounds on the figures of a run, with four answers.
//!
//! A gate is one line of text ([`GateExpr`]); a file holds many by name ([`parse_gates`]); [`judge_all`] answers all of
//! a run, and [`pairs_wanted`] and [`to_confirm`] tell whoever measures what the answers still need. An answer is never
//! a guess: too few samples give inconclusive, and a metric that the run cannot know is skipped with the reason.
//! Measuring is not here.
//!
//! - `parse`, `fit`, `expr`, `bound`, `selector`: one gate; `file`, `load`: many
//! - `evidence`, `samples`: what a run knows of one hook
//! - `question`, `paired`, `resample`: what its rounds say about two
//! - `change`, `stored`: exact figures against a baseline or a saved run
//! - `judge`, `answer`, `sentence`: from evidence to answers

mod answer;
mod bound;
mod change;
mod evidence;
mod expr;
mod file;
mod fit;
mod judge;
mod load;
mod paired;
mod parse;
mod question;
mod resample;
mod samples;
mod selector;
mod sentence;
mod stored;

pub use self::bound::{Bound, Op, Unit};
pub use self::expr::{Base, GateExpr, Metric, Options, Spread, Stat};
pub use self::file::{Gate, GateFault, parse_gates};
pub use self::judge::{judge_all, pairs_wanted, to_confirm};
pub use self::load::load_gates;
pub use self::parse::GateSyntax;
pub use self::selector::{Selector, SelectorKey};
pub use self::stored::Stored;
