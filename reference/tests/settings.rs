//! Settings, the strict mode, and that what is wrong with them is said where a person looks for it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::fs;
use std::path::{Path, PathBuf};

use world::{Ran, World};

const ASK: &str = "why do we renew the lease at a third of its duration?";
const ANSWER: &str = "Decided to renew on a timer of its own, because steps may be slow.";

/// Makes captures fail for everybody, the super-user too.
fn break_journal(world: &World) {
    let journal = world.project_store().join("journal");
    fs::remove_dir_all(&journal).unwrap();
    fs::write(&journal, "in the way").unwrap();
}

fn stop_on_broken_store(settings: &str) -> (Ran, String) {
    let world = World::new();
    world.settings(settings);
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.turn("renew the lease in time", ANSWER);
    break_journal(&world);
    let ran = session.prompt("and again, please");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "recall is never strict");
    (session.stop("Decided to renew it twice, because once was not enough."), world.log())
}

#[test]
fn failed_capture_is_logged_and_shown_under_strict_only() {
    let (ran, log) = stop_on_broken_store("");
    ran.silent();
    assert!(log.lines().any(|line| line.contains(" Stop ") && line.contains("journal")), "{log}");

    let (ran, log) = stop_on_broken_store("[capture]\nstrict = true\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("hookmem: ") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert!(log.contains(" Stop "), "{log}");
}

#[test]
fn strict_mode_changes_nothing_while_all_is_well_and_never_blocks() {
    let world = World::new();
    world.settings("[capture]\nstrict = true\n");
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.turn("renew the lease in time", ANSWER);
    session.end().silent();
    // A payload that is none is no capture.
    world.hook_bytes("not JSON").silent();
    assert!(!world.records(&project).is_empty());
}

fn with_settings(text: &str) -> (World, PathBuf) {
    let world = World::new();
    let project = world.repository("work/proj");
    world.seed_tiny(&project);
    fs::write(world.store().join("config.toml"), text).unwrap();
    (world, project)
}

fn problems(world: &World, project: &Path) -> String {
    world.session("p", project).prompt("anything about nothing at all");
    let status = world.on(project, &["status"]);
    let log = world.log();
    let said: Vec<&str> = status.ok().lines().filter_map(|line| line.strip_prefix("settings: ")).collect();
    for line in &said {
        assert!(log.contains(line), "{line} is not in {log}");
    }
    said.join("\n")
}

#[test]
fn what_is_wrong_with_the_settings_is_named_with_its_line_in_log_and_status() {
    for (text, line, part) in [
        ("[recall]\nmax_items = 2\nmax_itmes = 3\n", 3, "unknown field `max_itmes`"),
        ("[recal]\nmax_items = 2\n", 1, "unknown field `recal`"),
        ("\n[budgets]\nsession_start = 20000\n", 3, "outside"),
        ("[budgets]\nsession_start = \"many\"\n", 2, "invalid type"),
        ("[capture\n", 1, "mended"),
    ] {
        let (world, project) = with_settings(text);
        let said = problems(&world, &project);
        assert!(said.contains(&format!("config.toml:{line}:")) && said.contains(part), "{text:?}: {said}");
    }
}

#[test]
fn settings_that_cannot_be_used_leave_the_defaults_in_effect() {
    for text in ["[budgets]\nuser_prompt_submit = 0\nnonsense = 1\n", "\u{0}", "[budgets]\nuser_prompt_submit = -1\n"] {
        let (world, project) = with_settings(text);
        let told =
            (0..3).any(|n| world.session(&n.to_string(), &project).prompt(ASK).context("UserPromptSubmit").is_some());
        assert!(told, "{text:?}: {}", world.log());
    }
    let (world, project) = with_settings("");
    fs::remove_file(world.store().join("config.toml")).unwrap();
    fs::create_dir(world.store().join("config.toml")).unwrap();
    assert!(problems(&world, &project).contains("cannot be read"));
}

#[test]
fn good_settings_are_silent_and_work() {
    let text = "[recall]\nmax_items = 1\nstrategy = \"typed-evidence\"\nthreshold = 100.0\n[retention]\nmax_age_days = 30\n\
                [deadline]\nrecall_ms = 1300\n";
    let (world, project) = with_settings(text);
    assert_eq!(problems(&world, &project), "");
    world.session("a", &project).prompt(ASK).silent();
    assert_eq!(world.log(), "");
}

#[test]
fn strategy_that_is_none_and_a_deadline_of_nothing_are_named_and_leave_memory_on() {
    for (text, part) in
        [("[recall]\nstrategy = \"best\"\n", "\"best\" is none of"), ("[deadline]\nrecall_ms = 0\n", "below 20")]
    {
        let (world, project) = with_settings(text);
        let said = problems(&world, &project);
        assert!(said.contains("config.toml:2:") && said.contains(part), "{said}");
        let told =
            (0..3).any(|n| world.session(&n.to_string(), &project).prompt(ASK).context("UserPromptSubmit").is_some());
        assert!(told, "{}", world.log());
    }
}

#[test]
fn store_of_another_place_is_used_and_a_relative_one_is_not() {
    let mut world = World::bare();
    let project = world.repository("work/proj");
    world.env.insert("HOOKMEM_STORE".to_owned(), world.path("other/store").into_os_string());
    world.session("a", &project).turn("renew the lease in time", ANSWER);
    assert!(world.path("other/store/projects.jsonl").is_file() && !world.store().exists());
    world.env.insert("HOOKMEM_STORE".to_owned(), "other/relative".into());
    world.session("b", &project).turn("renew the lease in time", ANSWER);
    assert!(!world.path("other/relative").exists() && world.store().exists());
}

#[test]
fn timings_are_asked_for_by_name_and_never_on_stdout() {
    let (mut world, project) = with_settings("[deadline]\nrecall_ms = 1300\n");
    let plain = world.session("a", &project).start("startup");
    world.env.insert("HOOKMEM_TIMINGS".to_owned(), "1".into());
    let timed = world.session("b", &project).start("startup");
    assert_eq!((timed.code, &timed.stdout), (Some(0), &plain.stdout));
    assert!(plain.stderr.is_empty() && timed.stderr.lines().count() == 1, "{}", timed.stderr);
}
