//! What a memory says about the commit it was made at, through the real executable and real repositories.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs;
use std::path::Path;

use git2::Repository;
use world::{World, commit};

const ASK: &str = "why is the parser of the config written by hand?";

fn learn(world: &World, project: &Path, content: &str) {
    let mut session = world.session("a", project);
    session.prompt("write the parser of the config");
    session.writes("src/parser.rs", content);
    session.stop("Decided on a parser written by hand, because the grammar of the config is tiny.").silent();
}

/// The status that a later session is told.
fn status(world: &World, session: &str, project: &Path) -> String {
    let text = world.session(session, project).prompt(ASK).context("UserPromptSubmit").unwrap();
    let line = text.lines().find(|line| line.starts_with("[o-")).unwrap();
    line.rsplit_once('(').unwrap().1.trim_end_matches(')').to_owned()
}

/// Replaces the newest commit, and removes the old one's object as a garbage collection would.
fn amend(repository: &Repository, message: &str) {
    let old = repository.head().unwrap().peel_to_commit().unwrap();
    old.amend(Some("HEAD"), None, None, None, Some(message), None).unwrap();
    let id = old.id().to_string();
    fs::remove_file(repository.path().join("objects").join(&id[..2]).join(&id[2..])).unwrap();
}

#[test]
fn field_report_88_commit_that_is_gone_is_no_error_and_the_files_are_second_evidence() {
    let world = World::new();
    let project = world.repository("work/proj");
    let repository = Repository::open(&project).unwrap();
    commit(&repository, "second");
    learn(&world, &project, "pub fn parse() {}\n");
    commit(&repository, "the parser");
    amend(&repository, "amended");
    assert_eq!(status(&world, "b", &project), "captured-revision-is-ancestor");

    // A memory of a commit that is gone altogether.
    world.on(&project, &["forget", "--all", "--yes"]).ok();
    let mut session = world.session("a2", &project);
    session.prompt("write the parser of the config");
    session.writes("src/parser.rs", "pub fn parse() { more() }\n");
    session.stop("Decided on a parser written by hand again, because the grammar of the config is tiny.").silent();
    amend(&repository, "amended again");
    assert_eq!(status(&world, "c", &project), "files-unchanged");
    fs::write(project.join("src/parser.rs"), "pub fn other() {}\n").unwrap();
    assert_eq!(status(&world, "d", &project), "unknown");
    assert_eq!(world.log(), "");
}

#[test]
fn field_report_89_dirty_and_untracked_captures_say_so_and_match_the_later_commit() {
    let world = World::new();
    let project = world.repository("work/proj");
    let repository = Repository::open(&project).unwrap();
    // Untracked.
    learn(&world, &project, "pub fn parse() {}\n");
    let record = &world.records(&project)[0];
    assert_eq!(record["filters"]["dirty"], "true");
    assert_eq!(record["digests"][0]["path"], "src/parser.rs");
    commit(&repository, "the parser");
    assert!(
        ["captured-revision-is-ancestor", "files-unchanged", "exact-match"].contains(&&*status(&world, "b", &project))
    );
    // Tracked and changed: another content than the commit's is not the commit.
    let mut session = world.session("c", &project);
    session.prompt("make the lexer of the words faster");
    session.writes("src/lib.rs", "pub fn one() -> u32 { 11 }\n");
    session.stop("Decided to make the lexer a table, because branches of words are slow.").silent();
    let records = world.records(&project);
    let dirty = records.iter().find(|record| record["content"].as_str().unwrap().contains("lexer a table")).unwrap();
    assert_eq!(dirty["filters"]["dirty"], "true");
    commit(&repository, "the lexer");
    let text =
        world.session("d", &project).prompt("why is the lexer of the words a table?").context("UserPromptSubmit");
    let text = text.unwrap();
    assert!(!text.contains("(unknown)") && !text.contains("(diverged)"), "{text}");
    // Clean.
    let mut session = world.session("e", &project);
    session.prompt("where is the lexer used");
    session.stop("Decided to leave the users of the lexer alone, because nothing changes for them.").silent();
    let records = world.records(&project);
    let clean = records.iter().find(|record| record["content"].as_str().unwrap().contains("leave the users")).unwrap();
    assert_ne!(clean["filters"]["dirty"], "true");
}

#[test]
fn fresh_repository_detached_head_and_broken_git_folder_are_served() {
    let world = World::new();
    let fresh = world.folder("work/fresh");
    Repository::init(&fresh).unwrap();
    world.session("f", &fresh).turn("begin the work here", "Decided to begin with tests, because it is easier later.");
    assert_eq!(world.records(&fresh).len(), 1);

    let project = world.repository("work/proj");
    let repository = Repository::open(&project).unwrap();
    repository.set_head_detached(repository.head().unwrap().target().unwrap()).unwrap();
    learn(&world, &project, "pub fn parse() {}\n");
    let text = world.session("g", &project).prompt(ASK).context("UserPromptSubmit").unwrap();
    assert!(text.contains("no branch") && text.contains("(exact-match)"), "{text}");

    fs::remove_dir_all(project.join(".git/objects")).unwrap();
    let text = world.session("h", &project).prompt(ASK).context("UserPromptSubmit").unwrap();
    assert!(text.contains("parser"), "{text}");
    fs::write(project.join(".git/HEAD"), [0xff, 0xfe, 0]).unwrap();
    let ran = world.session("i", &project).prompt(ASK);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
