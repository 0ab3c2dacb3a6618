//! Which project a call belongs to, and that nothing is ever written into one.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs;
use std::path::Path;

use git2::Repository;
use serde_json::json;
use world::{World, changed, tree};

const ASK: &str = "why is the parser of the config written by hand?";
const ANSWER: &str = "Decided on a parser written by hand, because the grammar of the config is tiny.";

fn learn(world: &World, cwd: &Path) {
    world.session("learn", cwd).turn("write the parser of the config", ANSWER);
}

/// Whether a new session in a folder is told what was learnt.
fn knows(world: &World, id: &str, cwd: &Path) -> bool {
    world.session(id, cwd).prompt(ASK).context("UserPromptSubmit").is_some_and(|text| text.contains("by hand"))
}

#[test]
fn field_report_52_repositories_of_one_name_are_apart() {
    let world = World::new();
    let (a, b) = (world.repository("t/a/api"), world.repository("t/b/api"));
    learn(&world, &a);
    assert!(knows(&world, "1", &a) && !knows(&world, "2", &b));
}

#[test]
fn field_report_53_worktree_shares_its_repositorys_memory_also_when_it_is_gone() {
    let world = World::new();
    let main = world.repository("t/main");
    fs::create_dir_all(main.join(".claude/worktrees")).unwrap();
    let tree = main.join(".claude/worktrees/x");
    Repository::open(&main).unwrap().worktree("x", &tree, None).unwrap();
    learn(&world, &tree);
    assert_eq!(world.records(&main)[0]["filters"]["branch"], "x");
    assert!(knows(&world, "1", &main));
    fs::remove_dir_all(&tree).unwrap();
    assert!(knows(&world, "2", &main));
}

#[test]
fn field_report_56_start_in_a_project_without_memories_is_silent_whatever_others_have() {
    let world = World::new();
    let (a, b) = (world.repository("t/a"), world.repository("t/b"));
    learn(&world, &b);
    world.session("1", &a).start("startup").silent();
    world.session("2", &a).prompt(ASK).silent();
    world.session("3", &a).start("startup").silent();
    assert!(world.session("4", &b).start("startup").context("SessionStart").is_some());
}

#[test]
fn field_report_58_names_that_fold_alike_are_three_projects() {
    let world = World::new();
    let folders = ["t/spec-rl", "t/spec/rl", "t/spec_rl"].map(|name| world.folder(name));
    learn(&world, &folders[0]);
    assert_eq!([0, 1, 2].map(|n| knows(&world, &n.to_string(), &folders[n])), [true, false, false]);
}

#[test]
fn field_report_59_link_and_rename_keep_the_memory() {
    let world = World::new();
    let real = world.repository("t/real");
    learn(&world, &real);
    let link = world.path("t/link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(knows(&world, "1", &link));
    let moved = world.path("t/moved");
    fs::rename(&real, &moved).unwrap();
    assert!(knows(&world, "2", &moved));
}

#[test]
fn field_report_61_without_git_one_order_of_folders_and_a_missing_one_is_no_fault() {
    let mut world = World::new();
    let plain = world.folder("t/plain/sub");
    let elsewhere = world.folder("t/elsewhere");
    world.env.insert("CLAUDE_PROJECT_DIR".to_owned(), world.path("t/plain").into_os_string());
    learn(&world, &plain);
    assert!(knows(&world, "1", &world.path("t/plain")) && knows(&world, "2", &plain));
    assert!(!knows(&world, "3", &elsewhere), "a project folder that does not hold the working folder says nothing");
    // A missing or deleted working folder falls back to the project folder, and without one to silence.
    assert!(knows(&world, "4", &world.path("t/never")));
    world.env.remove("CLAUDE_PROJECT_DIR");
    let gone = world.folder("t/gone");
    fs::remove_dir(&gone).unwrap();
    for cwd in [json!(gone), json!(null), json!(7), json!(""), json!("relative")] {
        let mut session = world.session("5", &plain);
        for mut payload in [session.prompt_payload(ASK), session.stop_payload(ANSWER)] {
            payload["cwd"] = cwd.clone();
            world.hook(&payload).silent();
        }
        let mut payload = session.payload("SessionStart", json!({"source": "startup"}));
        payload.as_object_mut().unwrap().remove("cwd");
        world.hook(&payload).silent();
    }
}

#[test]
fn field_report_62_home_repository_swallows_no_project_below_it() {
    let world = World::new();
    world.repository("home");
    let below = world.folder("home/code/tool");
    learn(&world, &world.path("home"));
    assert_eq!(world.project_stores().len(), 0);
    learn(&world, &below);
    assert!(knows(&world, "1", &below) && !knows(&world, "2", &world.folder("home/code/other")));
}

#[test]
fn field_report_65_odd_names_work() {
    let world = World::new();
    for (n, name) in
        ["with space", "do.t", "quo'te\"", "per%20cent", "-rf", "世界", "a\nb", "$(touch x)"].into_iter().enumerate()
    {
        let project = world.repository(&format!("t/{name}"));
        world.session(&format!("learn{n}"), &project).turn("write the parser of the config", ANSWER);
        assert!(knows(&world, &n.to_string(), &project), "{name:?}");
    }
    assert_eq!(world.log(), "");
}

#[test]
fn field_report_67_whole_session_writes_nothing_into_the_work_tree_or_git() {
    let world = World::new();
    let main = world.repository("t/main");
    let repository = Repository::open(&main).unwrap();
    repository.remote("origin", "https://example.com/team/repo.git").unwrap();
    let worktree = world.path("t/tree");
    repository.worktree("tree", &worktree, None).unwrap();
    let mut session = world.session("a", &worktree);
    session.writes("src/parser.rs", "pub fn parse() {}\n");
    let before = tree(&world.path("t"));
    session.start("startup").silent();
    session.prompt("write the parser of the config").silent();
    session.pre_tool("Write", "toolu_1", json!({"file_path": worktree.join("src/parser.rs"), "content": "x"})).silent();
    session.stop(ANSWER).silent();
    world.hook(&session.payload("PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))).silent();
    session.end().silent();
    assert!(knows(&world, "b", &main));
    assert_eq!(changed(&before, &tree(&world.path("t"))), Vec::<std::path::PathBuf>::new());
}

#[test]
fn store_inside_the_work_tree_is_not_used() {
    let mut world = World::new();
    let project = world.repository("t/main");
    world.env.insert("HOOKMEM_STORE".to_owned(), project.join(".memory").into_os_string());
    learn(&world, &project);
    world.session("b", &project).prompt(ASK).silent();
    assert!(!project.join(".memory").exists());
}
