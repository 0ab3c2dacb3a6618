//! Project identity, each row of the table in `hookmem::project` with real folders and repositories.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use git2::{Repository, Signature};
use hookmem::project::{Place, Registry, locate};
use tempfile::TempDir;

struct World {
    dir: TempDir,
}

impl World {
    fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(world.path("home")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn repository(&self, name: &str) -> Repository {
        let repository = Repository::init(self.folder(name)).unwrap();
        commit(&repository, "first");
        repository
    }

    fn place(&self, cwd: &Path) -> Option<Place> {
        locate(cwd.to_str(), None, Some(&self.path("home")))
    }

    fn registry(&self) -> Registry {
        Registry::at(&self.path("store"))
    }

    /// The id that a capture in `cwd` uses.
    fn capture(&self, cwd: &Path) -> String {
        self.registry().register(&self.place(cwd).unwrap()).unwrap().id
    }

    /// The id that a recall in `cwd` uses.
    fn recall(&self, cwd: &Path) -> Option<String> {
        self.registry().lookup(&self.place(cwd)?).map(|project| project.id)
    }
}

fn commit(repository: &Repository, message: &str) -> git2::Oid {
    let who = Signature::new("A", "a@example.com", &git2::Time::new(1_700_000_000, 0)).unwrap();
    let tree = repository.find_tree(repository.index().unwrap().write_tree().unwrap()).unwrap();
    let parents: Vec<git2::Commit<'_>> =
        repository.head().ok().map(|h| h.peel_to_commit().unwrap()).into_iter().collect();
    repository.commit(Some("HEAD"), &who, &who, message, &tree, &parents.iter().collect::<Vec<_>>()).unwrap()
}

#[test]
fn field_report_52_repositories_with_one_basename_are_apart() {
    let world = World::new();
    world.repository("a/api");
    world.repository("b/api");
    let (a, b) = (world.capture(&world.path("a/api")), world.capture(&world.path("b/api")));
    assert_ne!(a, b);
    assert_eq!(world.recall(&world.path("a/api")), Some(a));
}

#[test]
fn field_report_53_worktree_belongs_to_its_repository_even_after_removal() {
    let world = World::new();
    let repository = world.repository("main");
    fs::create_dir_all(world.path("main/.claude/worktrees")).unwrap();
    let tree = world.path("main/.claude/worktrees/x");
    repository.worktree("x", &tree, None).unwrap();
    let id = world.capture(&tree);
    assert_eq!(world.recall(&world.path("main")), Some(id.clone()));
    fs::remove_dir_all(&tree).unwrap();
    assert_eq!(world.recall(&world.path("main")), Some(id));
}

#[test]
fn field_report_55_submodule_and_nested_repository_are_projects_of_their_own() {
    let world = World::new();
    let outer = world.repository("outer");
    // A submodule's work tree points into the outer repository's modules folder.
    let module_git = world.folder("outer/.git/modules/sub");
    Repository::init_bare(&module_git).unwrap();
    let sub = world.folder("outer/sub");
    fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
    world.repository("outer/nested");
    let ids =
        [outer.workdir().unwrap().to_path_buf(), sub.clone(), world.path("outer/nested")].map(|p| world.capture(&p));
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    assert_eq!(world.recall(&sub), Some(ids[1].clone()));
}

#[test]
fn field_report_56_other_project_in_store_gives_nothing() {
    let world = World::new();
    world.repository("b");
    world.repository("a");
    world.capture(&world.path("b"));
    assert_eq!(world.recall(&world.path("a")), None);
}

#[test]
fn field_report_58_names_that_fold_alike_are_apart() {
    let world = World::new();
    let ids: Vec<String> =
        ["t/spec-rl", "t/spec/rl", "t/spec_rl"].iter().map(|name| world.capture(&world.folder(name))).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

#[test]
fn field_report_59_symlink_and_rename_keep_the_project() {
    let world = World::new();
    world.repository("real");
    let id = world.capture(&world.path("real"));
    std::os::unix::fs::symlink(world.path("real"), world.path("link")).unwrap();
    assert_eq!(world.recall(&world.path("link")), Some(id.clone()));
    fs::remove_file(world.path("link")).unwrap();
    fs::rename(world.path("real"), world.path("renamed")).unwrap();
    assert_eq!(world.recall(&world.path("renamed")), Some(id.clone()));
    assert_eq!(world.capture(&world.path("renamed")), id);
    // A new repository under the old name is another project, whichever is asked first.
    world.repository("real");
    assert_eq!(world.recall(&world.path("real")), None);
    let fresh = world.capture(&world.path("real"));
    assert_ne!(fresh, id);
    assert_eq!(world.recall(&world.path("renamed")), Some(id));
    assert_eq!(world.recall(&world.path("real")), Some(fresh));
}

#[test]
fn field_report_59_copy_to_another_disk_is_known_by_its_origin() {
    let world = World::new();
    world.repository("one").remote("origin", "https://user:pw@example.com/team/one.git").unwrap();
    let id = world.capture(&world.path("one"));
    let again = world.repository("two");
    again.remote("origin", "https://example.com/team/one.git").unwrap();
    // A second clone while the first exists is a project of its own.
    assert_eq!(world.recall(&world.path("two")), None);
    fs::remove_dir_all(world.path("one")).unwrap();
    assert_eq!(world.recall(&world.path("two")), Some(id));
    let registry = fs::read_to_string(world.path("store/projects.jsonl")).unwrap();
    assert!(registry.contains("example.com/team/one.git") && !registry.contains("user:pw"), "{registry}");
}

#[test]
fn field_report_61_order_of_directories_without_git() {
    let world = World::new();
    let (project, elsewhere) = (world.folder("p"), world.folder("q"));
    let inside = world.folder("p/sub");
    let at = |cwd: Option<&Path>, project_dir: Option<&Path>| {
        locate(cwd.and_then(Path::to_str), project_dir, Some(&world.path("home"))).map(|place| place.root)
    };
    assert_eq!(at(Some(&inside), Some(&project)), Some(project.clone()));
    assert_eq!(at(Some(&elsewhere), Some(&project)), Some(elsewhere));
    assert_eq!(at(Some(&world.path("gone")), Some(&project)), Some(project.clone()));
    assert_eq!(at(None, Some(&project)), Some(project));
    assert_eq!(at(Some(&world.path("gone")), None), None);
    assert_eq!(at(Some(Path::new("relative")), None), None);
}

#[test]
fn field_report_62_home_and_root_are_no_project_and_a_home_repository_swallows_nothing() {
    let world = World::new();
    let home = world.path("home");
    Repository::init(&home).unwrap();
    let below = world.folder("home/notes");
    assert_eq!(world.place(&home), None);
    assert_eq!(world.place(Path::new("/")), None);
    let place = world.place(&below).unwrap();
    assert_eq!((place.root, place.git), (below, None));
    world.repository("home/code");
    assert!(world.place(&world.path("home/code")).unwrap().git.is_some());
}

#[test]
fn field_report_64_windows_shaped_directory_is_a_missing_one() {
    let world = World::new();
    let project = world.folder("p");
    let place = locate(Some(r"C:\Users\dev (x86)\proj"), Some(&project), None).unwrap();
    assert_eq!(place.root, project);
    assert_eq!(locate(Some(r"C:\Users\dev\proj"), None, None), None);
}

#[test]
fn field_report_65_odd_names_work() {
    let world = World::new();
    let mut ids = Vec::new();
    for name in ["with space", "a.b", "quo'te\"d", "per%cent", "-leading", "日本語", "über", "new\nline"] {
        world.repository(name);
        let id = world.capture(&world.path(name));
        assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') && !id.starts_with('-'), "{id}");
        assert_eq!(world.recall(&world.path(name)), Some(id.clone()), "{name}");
        ids.push(id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

#[test]
fn directory_in_the_other_normal_form_is_found() {
    let world = World::new();
    let composed = world.folder("caf\u{e9}");
    let decomposed = world.path("cafe\u{301}");
    assert_eq!(world.place(&decomposed).unwrap().root, composed);
}

#[test]
fn subfolder_leads_to_the_repository() {
    let world = World::new();
    world.repository("r");
    let deep = world.folder("r/src/deep");
    let id = world.capture(&deep);
    assert_eq!(world.recall(&world.path("r")), Some(id));
}

#[test]
fn deleted_directory_is_no_project() {
    let world = World::new();
    let gone = world.folder("gone");
    fs::remove_dir(&gone).unwrap();
    assert_eq!(world.place(&gone), None);
}

#[test]
fn registry_with_damaged_and_forged_lines_serves_the_good_ones() {
    let world = World::new();
    world.repository("r");
    let id = world.capture(&world.path("r"));
    let file = world.path("store/projects.jsonl");
    let good = fs::read_to_string(&file).unwrap();
    let forged = good.replace(&id, "../../evil");
    fs::write(&file, format!("\0\0\n{{\"v\":1\n{good}{forged}{{\"v\":1,\"id\":")).unwrap();
    assert_eq!(world.recall(&world.path("r")), Some(id));
    // The next line must not be glued to the torn one.
    world.repository("s");
    let other = world.capture(&world.path("s"));
    assert_eq!(world.recall(&world.path("s")), Some(other));
}

#[test]
fn recall_writes_nothing() {
    let world = World::new();
    world.repository("r");
    assert_eq!(world.recall(&world.path("r")), None);
    assert!(!world.path("store").exists());
}
