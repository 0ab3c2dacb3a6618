//! A session or a project without memory: no byte out, no byte kept.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs;
use std::path::Path;

use world::{World, changed, tree};

const ASK: &str = "why do we renew the lease at a third of its duration?";
const ANSWER: &str = "Decided to renew on a timer of its own, because steps may be slow.";

fn changes(world: &World, project: &Path) -> (Vec<std::path::PathBuf>, bool) {
    let before = tree(&world.path(""));
    let mut session = world.session("a", project);
    let runs = [session.start("startup"), session.prompt(ASK), session.stop(ANSWER), session.end()];
    let silent = runs.iter().all(world::Ran::is_silent);
    let mut all = changed(&before, &tree(&world.path("")));
    all.retain(|path| !path.starts_with("home/.claude") && path != Path::new("home"));
    (all, silent)
}

#[test]
fn field_report_46_switch_in_the_environment_turns_all_off() {
    for (value, off) in [("1", true), ("true", true), ("yes", true), ("0", false), ("false", false), ("", false)] {
        let mut world = World::new();
        let project = world.repository("work/proj");
        world.seed_tiny(&project);
        world.env.insert("HOOKMEM_DISABLE".to_owned(), value.into());
        let (changed, silent) = changes(&world, &project);
        assert_eq!((silent, changed.is_empty()), (off, off), "{value:?}: {changed:?}");
    }
}

#[test]
fn field_report_46_marker_file_turns_its_project_off_also_for_sub_folders_and_worktrees_of_it() {
    for marker in [".hookmem-off", ".claude/.hookmem-off"] {
        let world = World::new();
        let project = world.repository("work/proj");
        world.seed_tiny(&project);
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::write(project.join(marker), "").unwrap();
        for cwd in [project.clone(), project.join("src")] {
            let (changed, silent) = changes(&world, &cwd);
            assert!(silent && changed.is_empty(), "{marker} in {}: {changed:?}", cwd.display());
        }
        fs::remove_file(project.join(marker)).unwrap();
        assert!(world.session("b", &project).prompt(ASK).context("UserPromptSubmit").is_some());
    }
}

#[test]
fn home_and_root_are_no_project() {
    let world = World::new();
    for cwd in [world.path("home"), "/".into()] {
        let (changed, silent) = changes(&world, &cwd);
        assert!(silent && changed.is_empty(), "{}: {changed:?}", cwd.display());
    }
}
