//! Gates: bounds on the figures of a run, with four answers.
//!
//! A gate is one line of text ([`GateExpr`]); a file holds many by name ([`parse_gates`]); [`judge()`] answers
//! one for a run. An answer is never a guess: too few samples give inconclusive, and a metric that one run
//! cannot know (anything against a baseline) is skipped with the reason. Measuring is not here.

mod across;
mod bound;
mod expr;
mod file;
mod judge;
mod parse;
mod selector;

pub use self::across::combined_interval;
pub use self::bound::{Bound, Op, Unit};
pub use self::expr::{Base, GateExpr, Metric, Options, Spread, Stat};
pub use self::file::{Gate, GateFault, parse_gates};
pub use self::judge::judge;
pub use self::parse::GateSyntax;
pub use self::selector::{Selector, SelectorKey};
