//! Runs one hook as the host would and returns what happened, as an
//! [`Observation`](crate::observation::Observation).
//!
//! A call goes through two processes. The replayer keeps the streams: it feeds stdin, reads stdout and stderr
//! concurrently and stamps their ends. A [`Launcher`], the same executable started again with almost nothing in
//! memory, starts the hook, waits for it and reads its resource use. Peak memory needs that: a process inherits
//! the size of its parent at birth, so a hook started by a large replayer would look large. The launcher also
//! adopts every descendant that a hook leaves behind, which makes orphans certain to be found.
//!
//! Guarantee: a hook's misbehaviour is a value in the observation. An `io::Error` means that the machinery itself
//! failed. When a call is over, abandoned, or the replayer has died in any way, nothing that the hook started is
//! left running, unless the hook killed the launcher; and no process is ever signalled that a hook did not start.
//! The hook starts with three streams, all sockets, and no other descriptor, in a session of its own.
//!
//! Linux has all of this. Other Unix systems lack orphan search and memory figures, and see an exit up to a
//! millisecond late. Windows is not supported.
//!
//! Not here: verdicts, the host's reading of the output, sandboxes, repetition.
//!
//! - `call`: what to do, as data
//! - `spawner`: the replayer's side, from a call to an observation
//! - `link`: the replayer's connection to its launcher
//! - `pump`: the three streams
//! - `launcher`: the launcher's side
//! - `survivor`: what outlived the hook
//! - `program`: from a name to a file
//! - `wire`: the messages
//! - `bare`: the plainest way to run a program, to hold this one against
//! - `burner`: a hook made slower by a known time
//! - `unix`: system calls

mod bare;
pub mod burner;
mod call;
pub mod launcher;
mod link;
mod program;
mod pump;
mod spawner;
mod survivor;
mod unix;
mod wire;

pub use bare::spawn_and_wait;
pub use call::{CAPTURE_LIMIT_BYTES, Call, HoldRule, KILL_GRACE, Program, StdinPlan, floor_call};
pub(crate) use program::find as find_program;
pub use spawner::Launcher;
pub(crate) use unix::{has_ended, signal_group};
