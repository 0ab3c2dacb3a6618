//! What every stage of one hook call may look at.

use hook_contract::{Event, Payload};

use crate::config::{Config, Environment};
use crate::deadline::Deadline;
use crate::project::{Place, Project};
use crate::revision::Head;
use crate::session::file::SessionFile;

/// One hook call: the payload and where it stands. Data only.
pub struct Call<'a> {
    /// The event.
    pub event: Event,
    /// The decoded payload.
    pub payload: &'a Payload,
    /// The process's environment.
    pub environment: &'a Environment,
    /// Settings in effect.
    pub config: &'a Config,
    /// Where the call stands on disk.
    pub place: &'a Place,
    /// The project it belongs to.
    pub project: &'a Project,
    /// Where the repository stands.
    pub head: &'a Head,
    /// The session's state file.
    pub session: &'a SessionFile,
    /// When to give up.
    pub deadline: Deadline,
}

impl Call<'_> {
    /// The sub-agent that the call comes from; empty for the main conversation.
    pub fn agent_id(&self) -> &str {
        self.payload.common.agent_id.as_deref().unwrap_or("")
    }

    /// The host's session id; empty when it gave none.
    pub fn session_id(&self) -> &str {
        self.payload.common.session_id.as_deref().unwrap_or("")
    }
}
