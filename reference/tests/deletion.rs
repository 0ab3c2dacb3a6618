//! What is forgotten is gone from every byte, stays gone, and takes nothing else with it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod world;

use std::path::{Path, PathBuf};

use serde_json::json;
use world::{World, changed, row, tree};

/// Two projects with three memories each; every text names its memory and its project.
fn worlds() -> (World, PathBuf, PathBuf) {
    let world = World::new();
    let (a, b) = (world.repository("work/a"), world.repository("work/b"));
    for (project, name) in [(&a, "ALPHA"), (&b, "BETA")] {
        let rows: Vec<_> = ["one", "two", "three"]
            .iter()
            .enumerate()
            .map(|(n, word)| {
                let mut row = row(
                    &format!("m_{name}_{word}"),
                    &format!("s_{name}_{}", n / 2),
                    n as u32 * 30,
                    &format!("{name}{word} asks"),
                    &format!("{name}{word} is answered with the word {word}"),
                );
                row["affected_paths"] = json!([format!("src/{name}{word}.rs")]);
                row
            })
            .collect();
        world.seed(project, &rows);
        world.on(project, &["compact"]).ok();
    }
    std::fs::remove_file(world.path("seed.jsonl")).unwrap();
    (world, a, b)
}

fn left(world: &World, project: &Path) -> Vec<String> {
    world.records(project).iter().map(|record| record["doc_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn forget_by_id_session_time_query_and_all_removes_exactly_that_from_every_byte() {
    let cases: [(&[&str], &[&str], bool); 5] = [
        (&["m_ALPHA_two"], &["one", "three"], true),
        (&["--session", "s_ALPHA_0"], &["three"], false),
        (&["--before", "2024-02-15T00:00:00Z"], &["three"], false),
        (&["--query", "ALPHAone answered"], &["two", "three"], false),
        (&["--all"], &[], false),
    ];
    for (what, stay, is_named) in cases {
        let (world, a, b) = worlds();
        let others: Vec<_> = tree(&world.store()).into_iter().filter(|(path, _)| is_of(path, "b-")).collect();
        let before = tree(&world.store());
        if !is_named {
            let ran = world.on(&a, &[&["forget"], what].concat());
            assert!(ran.ok().contains("add --yes to do it"), "{what:?}: {ran:?}");
            assert_eq!(changed(&before, &tree(&world.store())), Vec::<PathBuf>::new(), "{what:?} only lists");
        }
        let ran = world.on(&a, &[&["forget", "--yes"], what].concat());
        let gone = 3 - stay.len();
        assert!(ran.ok().ends_with(&format!("{gone} removed\n")), "{what:?}: {ran:?}");
        let want: Vec<String> = stay.iter().map(|word| format!("m_ALPHA_{word}")).collect();
        assert_eq!(left(&world, &a), want, "{what:?}");
        for word in ["one", "two", "three"] {
            assert_eq!(world.stores(&format!("ALPHA{word}")), stay.contains(&word), "{what:?}: {word}");
        }
        for (path, entry) in others {
            assert_eq!(tree(&world.store()).get(&path), Some(&entry), "{what:?}: {}", path.display());
        }
        assert_eq!(left(&world, &b).len(), 3);
    }
}

fn is_of(path: &Path, start: &str) -> bool {
    path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(start))
}

#[test]
fn field_report_92_deleting_one_project_leaves_the_other_byte_identical() {
    let (world, a, b) = worlds();
    let id = |folder: &Path| {
        let status: serde_json::Value = serde_json::from_str(world.on(folder, &["status", "--json"]).ok()).unwrap();
        status["projects"][0]["project"].as_str().unwrap().to_owned()
    };
    let (of_a, of_b) = (id(&a), id(&b));
    let part = |id: &str| tree(world.project_stores().iter().find(|store| store.ends_with(id)).unwrap());
    let before = part(&of_b);
    world.run(&["forget", "--all", "--yes", "--project", &of_a]).ok();
    assert_eq!(part(&of_b), before);
    assert_eq!((left(&world, &a).len(), left(&world, &b).len()), (0, 3));
    // Ids stay as tombstones; texts do not.
    assert!(["ALPHAone", "ALPHAtwo", "ALPHAthree"].iter().all(|text| !world.stores(text)));
}

#[test]
fn field_report_91_forgotten_memory_is_not_rebuilt_from_its_transcript_or_an_import() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    let answer = "Decided to name the release ZANZIBAR, because nobody else does.";
    session.turn("name the release of the summer", answer);
    let id = world.records(&project)[0]["doc_id"].as_str().unwrap().to_owned();
    let export = world.on(&project, &["export"]).ok().to_owned();
    world.on(&project, &["forget", &id]).ok();
    assert!(!world.on(&project, &["export"]).ok().contains("ZANZIBAR"));
    for _ in 0..2 {
        world.hook(&session.stop_payload(answer)).silent();
    }
    // Also with the session's state gone, when the old transcript looks new.
    std::fs::remove_dir_all(world.project_store().join("sessions")).unwrap();
    world.hook(&session.stop_payload(answer)).silent();
    let held: Vec<_> = world.records(&project).iter().filter(|record| record["doc_id"] == *id).cloned().collect();
    assert!(held.is_empty(), "{held:#?}");
    let file = world.path("export.jsonl");
    std::fs::write(&file, export).unwrap();
    let ran = world.on(&project, &["import", file.to_str().unwrap()]);
    assert!(ran.ok().starts_with("0 new, 0 known, 1 forgotten earlier"), "{ran:?}");
}

#[test]
fn forgotten_text_is_gone_from_the_sessions_and_the_spool_too() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    session.turn("name the release ZANZIBAR of the summer", "Decided to name it ZANZIBAR, because nobody else does.");
    session.end().silent();
    world.on(&project, &["forget", "--all", "--yes"]).ok();
    assert_eq!(holders(&world, b"ZANZIBAR"), Vec::<PathBuf>::new());
}

#[test]
fn summary_of_a_session_does_not_bring_back_what_was_forgotten_of_it() {
    for what in [&["--all"][..], &["--session", "a"], &["--query", "name the release ZANZIBAR"], &[]] {
        let world = World::new();
        let project = world.repository("work/proj");
        let mut session = world.session("a", &project);
        session
            .turn("name the release ZANZIBAR of the summer", "Decided to name it ZANZIBAR, because nobody else does.");
        let id = left(&world, &project)[0].clone();
        let args = if what.is_empty() { vec!["forget", &id] } else { [&["forget", "--yes"], what].concat() };
        assert!(world.on(&project, &args).ok().ends_with("1 removed\n"), "{what:?}");
        assert_eq!(holders(&world, b"ZANZIBAR"), Vec::<PathBuf>::new(), "{what:?}");
        session
            .turn("count the words of the manual", "Decided to count words by blanks, because the manual is English.");
        session.end().silent();
        assert_eq!(holders(&world, b"ZANZIBAR"), Vec::<PathBuf>::new(), "{what:?}");
        assert!(!left(&world, &project).is_empty());
    }
}

#[test]
fn compaction_and_a_stop_without_an_id_do_not_bring_back_what_was_forgotten() {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut session = world.session("a", &project);
    let answer = "Decided to name it ZANZIBAR, because nobody else does.";
    session.turn("name the release ZANZIBAR of the summer", answer);
    world.on(&project, &["forget", "--query", "ZANZIBAR", "--yes"]).ok();
    let pre_compact = session.payload("PreCompact", json!({"trigger": "auto", "custom_instructions": null}));
    let mut stop = session.stop_payload(answer);
    stop.as_object_mut().unwrap().remove("prompt_id");
    for payload in [&pre_compact, &stop, &pre_compact] {
        world.hook(payload).silent();
        assert_eq!(holders(&world, b"ZANZIBAR"), Vec::<PathBuf>::new(), "{payload}");
    }
    // What is asked afterwards is remembered as ever.
    session.turn("count the words of the manual", "Decided to count words by blanks, because the manual is English.");
    world.hook(&pre_compact).silent();
    assert_eq!(holders(&world, b"ZANZIBAR"), Vec::<PathBuf>::new());
    assert!(world.stores("count words by blanks"));
}

#[test]
fn record_that_waits_beside_the_journal_is_forgotten_too() {
    let world = World::new();
    world.settings("[deadline]\ncapture_ms = 50\n");
    let project = world.repository("work/proj");
    world.session("a", &project).turn("plan the garden", "Decided to plant beans, because they climb the fence.");
    let lock = std::fs::File::open(world.project_store().join("journal/lock")).unwrap();
    lock.lock().unwrap();
    world.session("b", &project).turn("name the ship", "Decided to name it ZANZIBAR, because nobody else does.");
    lock.unlock().unwrap();
    assert!(world.stores("ZANZIBAR"));
    world.on(&project, &["forget", "--all", "--yes"]).ok();
    assert_eq!(holders(&world, b"ZANZIBAR"), Vec::<PathBuf>::new());
    assert_eq!(left(&world, &project), Vec::<String>::new());
}

#[test]
fn forgetting_what_is_not_there_fails_and_removes_nothing() {
    let (world, a, _) = worlds();
    let before = left(&world, &a);
    let ran = world.on(&a, &["forget", "m_ALPHA_one", "m_typo"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no record m_typo"), "{ran:?}");
    assert_eq!(left(&world, &a), before);
}

/// Files of the store that hold a text.
fn holders(world: &World, text: &[u8]) -> Vec<PathBuf> {
    let all = world.stored_bytes().into_iter().filter(|(_, bytes)| world::contains(bytes, text));
    all.map(|(path, _)| path).collect()
}

#[test]
fn forgetting_nothing_or_two_things_is_a_usage_error() {
    let (world, a, _) = worlds();
    for what in [&["forget"][..], &["forget", "--all", "--session", "x"], &["forget", "m_x", "--all"]] {
        assert_eq!(world.on(&a, what).code, Some(2), "{what:?}");
    }
    assert_eq!(world.on(&a, &["forget", "--before", "yesterday", "--yes"]).code, Some(1));
    assert_eq!(left(&world, &a).len(), 3);
}
