//! Revisions of a small repository, built and called by path.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use git2::{BranchType, Oid, Repository, Signature};

use super::*;
use crate::process::Program;

/// A repository with one file `hook.sh` whose text differs from commit to commit.
struct World {
    folder: tempfile::TempDir,
    commits: Vec<Oid>,
}

impl World {
    fn new(texts: &[&str]) -> World {
        let folder = tempfile::tempdir().unwrap();
        Repository::init(folder.path()).unwrap();
        let mut world = World { folder, commits: Vec::new() };
        for text in texts {
            world.commit(&[("hook.sh", &format!("#!/bin/sh\necho {text}\n"))]);
        }
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn repository(&self) -> Repository {
        Repository::open(self.folder.path()).unwrap()
    }

    fn commit(&mut self, files: &[(&str, &str)]) {
        let repository = self.repository();
        let mut index = repository.index().unwrap();
        for (name, text) in files {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            index.add_path(Path::new(name)).unwrap();
        }
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let dev = Signature::now("Dev", "dev@example.com").unwrap();
        let parents: Vec<git2::Commit<'_>> =
            self.commits.last().map(|id| repository.find_commit(*id).unwrap()).into_iter().collect();
        let parents: Vec<&git2::Commit<'_>> = parents.iter().collect();
        self.commits.push(repository.commit(Some("HEAD"), &dev, &dev, "c", &tree, &parents).unwrap());
    }

    fn build(&self, revision: &str, command: Option<&str>) -> Result<Built, String> {
        self.build_hook("./hook.sh", revision, command)
    }

    fn build_hook(&self, hook: &str, revision: &str, command: Option<&str>) -> Result<Built, String> {
        let hooks = [hook.to_owned()];
        let root = self.root();
        let cache = root.join(CACHE);
        let given = Given { hooks: &hooks, settings: None, no_shell: false };
        let spec = Spec { revision, given, start: &root, cache: &cache, build: command };
        build(&spec).map_err(|failure| failure.to_string())
    }

    /// Everything that a user would notice: files as git sees them, index, HEAD, branches.
    fn state(&self) -> (Vec<String>, Vec<u8>, String, Vec<String>) {
        let repository = self.repository();
        let mut options = git2::StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true);
        let statuses = repository.statuses(Some(&mut options)).unwrap();
        let changed = statuses.iter().map(|entry| String::from_utf8_lossy(entry.path_bytes()).into_owned()).collect();
        let branches = repository.branches(Some(BranchType::Local)).unwrap();
        let branches = branches.map(|branch| format!("{:?}", branch.unwrap().0.name_bytes().unwrap())).collect();
        let head = fs::read_to_string(repository.path().join("HEAD")).unwrap();
        (changed, fs::read(repository.path().join("index")).unwrap(), head, branches)
    }

    fn n_worktrees(&self) -> usize {
        self.repository().worktrees().unwrap().len()
    }
}

/// What the built hook prints.
fn says(built: &Built) -> String {
    let hook = built.target.hooks().unwrap().first().unwrap();
    let Program::Shell(line) = &hook.program else { return String::new() };
    let output = Command::new("/bin/sh").args(["-c", line]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_tracked_script_is_taken_from_its_revision_and_nothing_of_the_user_changes() {
    let world = World::new(&["old", "new"]);
    fs::write(world.root().join("hook.sh"), "#!/bin/sh\necho edited\n").unwrap();
    let before = world.state();
    let built = world.build("HEAD~1", None).unwrap();
    assert_eq!(says(&built), "old");
    assert!(!built.was_built);
    assert_eq!(built.commit, world.commits[0].to_string());
    assert_eq!(built.name, format!("rev:HEAD~1 ({}): ./hook.sh", &built.commit[..12]));
    assert_eq!(world.state(), before);
    assert_eq!(says(&world.build("HEAD", None).unwrap()), "new");
    assert_eq!(world.state(), before);
    // The revision's own worktree is on no branch.
    assert!(Repository::open(&built.tree).unwrap().head_detached().unwrap());
}

#[test]
fn a_build_runs_once_a_commit_and_command() {
    let world = World::new(&["old", "new"]);
    let command = "echo ran >> log; mkdir -p target; cp hook.sh target/hook";
    let build = |command| world.build_hook("target/hook", "HEAD~1", Some(command)).unwrap();
    let built = build(command);
    assert_eq!((says(&built).as_str(), built.was_built), ("old", true));
    assert!(!build(command).was_built);
    assert!(build("true").was_built);
    assert_eq!(fs::read_to_string(built.tree.join("log")).unwrap(), "ran\n");
    // What the build made is gone: it runs again.
    fs::remove_file(built.tree.join("target/hook")).unwrap();
    assert!(build("mkdir -p target; cp hook.sh target/hook").was_built);
}

#[test]
fn a_build_that_removed_the_hook_harms_no_later_one() {
    let world = World::new(&["old", "new"]);
    let why = world.build("HEAD~1", Some("echo made > more; rm hook.sh")).unwrap_err();
    assert!(why.contains("did not make hook.sh"), "{why}");
    let built = world.build("HEAD~1", None).unwrap();
    assert_eq!(says(&built), "old");
    // What the build made is not looked for in the revision, and stays.
    assert_eq!(fs::read_to_string(built.tree.join("more")).unwrap(), "made\n");
}

#[test]
fn a_rust_project_is_built_by_cargo_into_the_worktree() {
    let mut world = World::new(&[]);
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let lock = "version = 3\n\n[[package]]\nname = \"tiny\"\nversion = \"0.1.0\"\n";
    let main = |text: &str| format!("fn main() {{ println!(\"{text}\"); }}\n");
    world.commit(&[("Cargo.toml", manifest), ("Cargo.lock", lock), ("src/main.rs", &main("old"))]);
    world.commit(&[("src/main.rs", &main("new"))]);
    let built = world.build_hook("target/release/tiny", "HEAD~1", None).unwrap();
    assert_eq!((says(&built).as_str(), built.was_built), ("old", true));
    assert!(!world.root().join("target").exists());
    assert!(!world.build_hook("target/release/tiny", "HEAD~1", None).unwrap().was_built);
}

#[test]
fn a_failed_build_shows_the_end_of_what_it_said() {
    let world = World::new(&["old"]);
    let before = world.state();
    let said = world.build("HEAD", Some("seq 1 40 >&2; echo 'it broke' >&2; exit 3")).unwrap_err();
    for part in ["failed at revision HEAD (exit status: 3)", "\n    27\n", "it broke", "help: name with --build"] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    assert!(!said.contains("\n    26\n"), "{said}");
    assert_eq!(world.state(), before);
    // The next attempt is not told that it was built.
    assert!(world.build("HEAD", Some("true")).unwrap().was_built);
}

#[test]
fn what_cannot_be_built_is_told_with_a_remedy() {
    let world = World::new(&["old"]);
    let refused = |hook: &str, revision: &str, command| world.build_hook(hook, revision, command).unwrap_err();
    let said = refused("./hook.sh", "nowhere", None);
    assert!(said.contains("there is no revision `nowhere` here") && said.contains("origin/NAME"), "{said}");
    let said = refused("hookmem hook", "HEAD", None);
    assert!(said.contains("`hookmem hook` names no file of the work tree"), "{said}");
    let said = refused("target/release/x", "HEAD", None);
    assert!(said.contains("revision HEAD has no target/release/x"), "{said}");
    let said = refused("target/release/x", "HEAD", Some("true"));
    assert!(said.contains("`true` at revision HEAD did not make target/release/x"), "{said}");
    fs::write(world.repository().path().join("shallow"), format!("{}\n", world.commits[0])).unwrap();
    let said = refused("./hook.sh", "HEAD~1", None);
    assert!(said.contains("this clone is shallow"), "{said}");
}

#[test]
fn outside_a_repository_there_is_no_revision() {
    let folder = tempfile::tempdir().unwrap();
    let hooks = ["./x".to_owned()];
    let given = Given { hooks: &hooks, settings: None, no_shell: false };
    let cache = folder.path().join(CACHE);
    let spec = Spec { revision: "HEAD", given, start: folder.path(), cache: &cache, build: None };
    let said = build(&spec).unwrap_err().to_string();
    assert!(said.contains("is in no git repository"), "{said}");
}

#[test]
fn a_removed_entry_leaves_nothing_in_git() {
    let world = World::new(&["old", "new"]);
    let built = world.build("HEAD~1", None).unwrap();
    assert_eq!(world.n_worktrees(), 1);
    remove(&world.root(), &world.root().join(CACHE), &built.commit).unwrap();
    assert_eq!(world.n_worktrees(), 0);
    assert!(!built.tree.exists());
    assert_eq!(says(&world.build("HEAD~1", None).unwrap()), "old");
}

#[test]
fn a_cache_removed_by_hand_is_made_again() {
    let world = World::new(&["old", "new"]);
    world.build("HEAD~1", None).unwrap();
    fs::remove_dir_all(world.root().join(".hookbench")).unwrap();
    assert_eq!(says(&world.build("HEAD~1", None).unwrap()), "old");
    assert_eq!(world.n_worktrees(), 1);
}

#[test]
fn a_worktree_that_was_cut_off_half_way_is_made_again() {
    let world = World::new(&["old", "new"]);
    let built = world.build("HEAD~1", None).unwrap();
    fs::remove_file(built.tree.join("hook.sh")).unwrap();
    fs::remove_file(built.tree.parent().unwrap().join("whole")).unwrap();
    assert_eq!(says(&world.build("HEAD~1", None).unwrap()), "old");
    assert_eq!(world.n_worktrees(), 1);
}

#[test]
fn entries_used_longest_ago_go_with_their_worktrees() {
    let world = World::new(&["1", "2", "3", "4", "5", "6"]);
    for back in (0..6).rev() {
        world.build(&format!("HEAD~{back}"), None).unwrap();
        // The file system's clock must tell the entries apart.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(world.n_worktrees(), KEPT);
    let cached = |at: usize| world.root().join(CACHE).join(world.commits[at].to_string()).exists();
    assert_eq!((0..6).map(cached).collect::<Vec<bool>>(), [false, false, true, true, true, true]);
}

#[test]
fn a_linked_worktree_is_as_good_a_start() {
    let world = World::new(&["old", "new"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let linked = elsewhere.path().join("linked");
    world.repository().worktree("linked", &linked, None).unwrap();
    let linked = linked.canonicalize().unwrap();
    let hooks = ["./hook.sh".to_owned()];
    let given = Given { hooks: &hooks, settings: None, no_shell: false };
    let cache = linked.join(CACHE);
    let spec = Spec { revision: "HEAD~1", given, start: &linked, cache: &cache, build: None };
    let built = build(&spec).unwrap();
    assert_eq!(says(&built), "old");
    assert!(built.tree.starts_with(&linked));
}

#[test]
fn settings_are_those_of_the_revision() {
    let mut world = World::new(&["old"]);
    let settings =
        |hook: &str| format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{hook}"}}]}}]}}}}"#);
    world.commit(&[(".claude/settings.json", &settings("a"))]);
    world.commit(&[(".claude/settings.json", &settings("b"))]);
    let root = world.root();
    let (cache, path) = (root.join(CACHE), root.join(".claude/settings.json"));
    let given = Given { hooks: &[], settings: Some(&path), no_shell: false };
    let spec = Spec { revision: "HEAD~1", given, start: &root, cache: &cache, build: None };
    let built = build(&spec).unwrap();
    assert!(built.target.shown().contains(&built.tree.display().to_string()), "{}", built.target.shown());
    assert_eq!(fs::read_to_string(built.tree.join(".claude/settings.json")).unwrap(), settings("a"));
}
