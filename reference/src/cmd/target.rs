//! Which project's store a command is about.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use crate::config::Environment;
use crate::project::{Place, Project, Registry, locate};

/// Names the project of a command.
#[derive(Debug, Clone, Default, Args)]
pub struct Target {
    /// Folder of the project. Default: the current folder.
    #[arg(long, value_name = "DIR", conflicts_with = "project")]
    pub project_dir: Option<PathBuf>,
    /// Id of the project, as `hookmem status --all` lists it.
    #[arg(long, value_name = "ID")]
    pub project: Option<String>,
}

impl Target {
    /// The project, which must have memories already.
    ///
    /// # Errors
    /// No home, no such project, or nothing captured yet.
    pub fn known(&self, environment: &Environment) -> Result<Project, Failure> {
        let registry = registry(environment)?;
        if let Some(id) = &self.project {
            let found = registry.all().into_iter().find(|(known, _)| known == id);
            let (id, root) = found.ok_or_else(|| format!("no project is called {id}; see `hookmem status --all`"))?;
            return Ok(Project { store: registry.store_of(&id), id, root });
        }
        let place = self.place(environment)?;
        registry.lookup(&place).ok_or_else(|| format!("nothing is remembered for {} yet", place.root.display()))
    }

    /// The project, registered now when it is new.
    ///
    /// # Errors
    /// No home, no such folder, or a registry that cannot be written.
    pub fn registered(&self, environment: &Environment) -> Result<Project, Failure> {
        if self.project.is_some() {
            return self.known(environment);
        }
        let place = self.place(environment)?;
        registry(environment)?.register(&place).map_err(|error| error.to_string())
    }

    fn place(&self, environment: &Environment) -> Result<Place, Failure> {
        let folder = match &self.project_dir {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?,
        };
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        locate(folder.to_str(), None, environment.home.as_deref()).ok_or_else(|| {
            format!("{} is no project: it is your home folder, or the root of the disk", folder.display())
        })
    }
}

/// The registry of the store.
///
/// # Errors
/// Without a home there is no store.
pub fn registry(environment: &Environment) -> Result<Registry, Failure> {
    Ok(Registry::at(store_root(environment)?))
}

/// The store's root folder.
///
/// # Errors
/// Without a home there is no store.
pub fn store_root(environment: &Environment) -> Result<&Path, Failure> {
    environment.store_root.as_deref().ok_or_else(|| "there is no home folder; set HOME or HOOKMEM_STORE".to_owned())
}
