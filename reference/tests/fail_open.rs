//! Whatever is wrong with the store, the machine or the payload, the host goes on: exit code 0 and no byte.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod world;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use world::{World, finish, row, tree, unrelated};

const TOPIC: &str = "Rotate the signing keys of the webhook sender";
const ASK: &str = "the webhook sender rejects our signing keys";

/// A world with one project that knows about the topic.
fn seeded() -> (World, std::path::PathBuf) {
    let world = World::new();
    let project = world.repository("work/proj");
    let mut rows = unrelated(30);
    rows.push(row("m_topic", "s_topic", 40, TOPIC, "The webhook sender signs with the new keys since the rotation."));
    world.seed(&project, &rows);
    (world, project)
}

/// Longer than any test here needs, shorter than a hang.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn field_report_01_silent_live_process_behind_a_lock_or_pid_file_is_not_waited_for() {
    let (world, project) = seeded();
    let store = world.project_store();
    let mut sleeper = std::process::Command::new("sleep").arg("900").spawn().unwrap();
    for folder in [world.store(), store.clone()] {
        for name in ["pid", "lock", "hookmem.pid", "daemon.lock", "socket"] {
            fs::write(folder.join(name), sleeper.id().to_string()).unwrap();
        }
    }
    // Somebody alive holds every lockable file of the store, and never lets go.
    let held: Vec<File> = tree(&world.store())
        .into_iter()
        .filter(|(_, entry)| entry.bytes.is_some())
        .map(|(path, _)| File::options().read(true).write(true).open(world.store().join(path)).unwrap())
        .inspect(|file| file.lock().unwrap())
        .collect();
    let started = Instant::now();
    let session = world.session("a", &project);
    let brief = session.start("startup");
    // Another session: what the first one was shown it is not told again.
    let answer = world.session("b", &project).prompt(ASK);
    session.stop("Decided to keep two signing keys, because the old one is valid for a day.").silent();
    let took = started.elapsed();
    drop(held);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(took < PATIENCE, "{took:?}");
    assert!(brief.context("SessionStart").is_some() && answer.context("UserPromptSubmit").is_some());
}

#[test]
fn field_report_02_unusable_store_denies_nothing() {
    for kind in ["mode 000", "file", "dangling link", "project store is a file"] {
        let (world, project) = seeded();
        let (store, own) = (world.store(), world.project_store());
        match kind {
            "mode 000" => fs::set_permissions(&store, fs::Permissions::from_mode(0o000)).unwrap(),
            "file" => {
                fs::remove_dir_all(&store).unwrap();
                fs::write(&store, "not a folder").unwrap();
            }
            "dangling link" => {
                fs::remove_dir_all(&store).unwrap();
                symlink(world.path("nowhere"), &store).unwrap();
            }
            _ => {
                fs::remove_dir_all(&own).unwrap();
                fs::write(&own, "not a folder").unwrap();
            }
        }
        let mut session = world.session("a", &project);
        let read = session.pre_tool("Read", "toolu_1", json!({"file_path": project.join("src/lib.rs")}));
        let prompt = session.prompt("why is the store unusable today?");
        let start = session.start("startup");
        let stop = session.stop("Decided to look at the store, because it is a strange thing.");
        fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).ok();
        for ran in [&read, &prompt, &start, &stop] {
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{kind}: {ran:?}");
            assert!(!ran.stdout.contains("permissionDecision") && !ran.stdout.contains("\"decision\""), "{kind}");
        }
        // The super-user reads through any mode.
        assert!(kind == "mode 000" || [read, prompt, start, stop].iter().all(world::Ran::is_silent), "{kind}");
    }
}

#[test]
fn field_report_10_times_in_the_future_mean_nothing() {
    let (world, project) = seeded();
    let mut session = world.session("a", &project);
    session.turn("please tidy the signing module", "Decided to keep the module, because it is small enough.");
    let ahead = SystemTime::now() + Duration::from_secs(3 * 86_400);
    for path in tree(&world.store()).keys() {
        File::open(world.store().join(path)).unwrap().set_modified(ahead).unwrap();
    }
    let started = Instant::now();
    assert!(session.prompt(ASK).context("UserPromptSubmit").is_some());
    session.stop("Decided to rotate weekly, because the auditors ask for it.").silent();
    assert!(started.elapsed() < PATIENCE);
    assert_eq!(world.records(&project).len(), 33);
}

#[test]
fn field_report_16_record_of_a_held_lock_is_delayed_or_spooled_and_never_lost() {
    for (hold, sessions) in [(Duration::from_millis(400), "short"), (Duration::from_secs(5), "long")] {
        let (world, project) = seeded();
        let locks: Vec<_> = tree(&world.project_store()).into_keys().filter(|path| path.ends_with("lock")).collect();
        assert!(!locks.is_empty());
        let held: Vec<File> = locks
            .iter()
            .map(|path| File::options().read(true).write(true).open(world.project_store().join(path)).unwrap())
            .inspect(|file| file.lock().unwrap())
            .collect();
        let holder = std::thread::spawn(move || {
            std::thread::sleep(hold);
            drop(held);
        });
        let mut session = world.session(sessions, &project);
        session.turn("choose a lock for the writer", "Decided on an advisory lock, because it dies with its holder.");
        holder.join().unwrap();
        // The next writer takes in what was spooled.
        session.turn("choose a name for it", "Decided to call it append.lock, because it guards the append.");
        let stored: Vec<String> = world.records(&project).iter().map(|r| r["content"].to_string()).collect();
        for text in ["dies with its holder", "guards the append"] {
            assert_eq!(stored.iter().filter(|content| content.contains(text)).count(), 1, "{sessions}: {text}");
        }
    }
}

#[test]
fn field_report_17_store_made_by_many_at_once_is_one_valid_store() {
    for round in 0..40 {
        let world = World::bare();
        let project = world.repository("work/proj");
        let mut sessions: Vec<_> = (0..2).map(|n| world.session(&format!("r{round}-{n}"), &project)).collect();
        let mut calls: Vec<_> =
            sessions.iter().map(|session| session.payload("SessionStart", json!({"source": "startup"}))).collect();
        calls.extend(sessions.iter_mut().map(|session| session.prompt_payload("make the store now, please")));
        calls
            .extend(sessions.iter().map(|s| s.stop_payload("Decided to make the store at once, because all need it.")));
        let children: Vec<_> = calls.iter().map(|payload| world.start_hook(payload)).collect();
        for (payload, child) in calls.iter().zip(children) {
            let ran = finish(child);
            // Whoever comes late may already be told what another one has captured.
            let event = payload["hook_event_name"].as_str().unwrap();
            assert!(ran.is_silent() || ran.context(event).is_some() && event != "Stop", "{ran:?}");
        }
        assert_eq!(world.project_stores().len(), 1, "round {round}");
        assert_eq!(world.records(&project).len(), 2, "round {round}: {}", world.log());
        assert_eq!(world.log(), "");
    }
}

#[test]
fn field_report_19_flipped_byte_and_cut_tail_cost_at_most_the_damaged_record() {
    for damage in ["flip", "cut"] {
        let (world, project) = seeded();
        let journal = world.project_store().join("journal");
        let (path, mut bytes) = fs::read_dir(&journal)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .max_by_key(|(_, bytes)| bytes.len())
            .unwrap();
        if damage == "flip" {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x20;
        } else {
            bytes.truncate(bytes.len() - 100);
        }
        fs::write(&path, &bytes).unwrap();
        let mut session = world.session("a", &project);
        let answer = session.prompt(ASK);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        session.stop("Decided to keep the damaged file, because repair needs it.").silent();
        let records = world.records(&project);
        assert!(records.len() >= 31, "{damage}: {} of 31 and one", records.len());
        assert!(records.iter().any(|record| record["content"].to_string().contains("repair needs it")));
        world.on(&project, &["compact"]).ok();
        assert!(world.records(&project).len() >= 31, "{damage}");
    }
}

#[test]
fn field_report_20_damaged_index_files_are_ignored_or_built_again() {
    for damage in ["delete", "truncate", "junk"] {
        let (world, project) = seeded();
        world.on(&project, &["compact"]).ok();
        let index: Vec<_> = tree(&world.project_store().join("index"))
            .into_iter()
            .filter_map(|(path, entry)| {
                entry.bytes.map(|bytes| (world.project_store().join("index").join(path), bytes))
            })
            .collect();
        assert!(!index.is_empty());
        for (path, bytes) in &index {
            match damage {
                "delete" => fs::remove_file(path).unwrap(),
                "truncate" => fs::write(path, bytes.get(..bytes.len() / 2).unwrap()).unwrap(),
                _ => fs::write(path, vec![0xa5; bytes.len()]).unwrap(),
            }
            let answer = world.session("a", &project).prompt(ASK);
            assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{damage} {}", path.display());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for (path, _) in &index {
            fs::write(path, "junk").unwrap();
        }
        let text = world.session("b", &project).prompt(ASK).context("UserPromptSubmit").unwrap();
        assert!(text.contains("m_topic"), "{damage}: {text}");
    }
}

#[test]
fn field_report_22_lock_files_of_the_dead_and_of_strangers_stop_nobody() {
    for owner in [u32::MAX - 7, std::process::id()] {
        let (world, project) = seeded();
        for (path, _) in tree(&world.project_store()).into_iter().filter(|(path, _)| path.ends_with("lock")) {
            fs::write(world.project_store().join(path), owner.to_string()).unwrap();
        }
        let mut sessions: Vec<_> = (0..8).map(|n| world.session(&format!("s{n}"), &project)).collect();
        let prompts: Vec<_> = sessions.iter_mut().map(|session| session.prompt_payload(ASK)).collect();
        let children: Vec<_> = prompts.iter().map(|payload| world.start_hook(payload)).collect();
        for child in children {
            assert!(finish(child).context("UserPromptSubmit").is_some());
        }
        let stops: Vec<_> = sessions
            .iter()
            .enumerate()
            .map(|(n, s)| s.stop_payload(&format!("Decided on plan number {n}, because all of them are good.")))
            .collect();
        let children: Vec<_> = stops.iter().map(|payload| world.start_hook(payload)).collect();
        children.into_iter().for_each(|child| finish(child).silent());
        world.session("last", &project).stop("Decided to stop here, because everything is captured.").silent();
        assert_eq!(world.records(&project).len(), 31 + 9);
    }
}

#[test]
fn field_report_25_newer_store_is_read_or_left_alone_and_never_migrated_down() {
    let (world, project) = seeded();
    let journal = world.project_store().join("journal");
    world::rewrite_journal(&world.project_store(), |json| json.replace("\"version\":1,", "\"version\":99,"));
    assert!(world.on(&project, &["status"]).ok().contains("newer hookmem"));
    fs::create_dir_all(world.project_store().join("index/99999999")).unwrap();
    fs::write(world.project_store().join("index/99999999/manifest.json"), r#"{"version":99}"#).unwrap();
    let before = tree(&journal);
    let mut session = world.session("a", &project);
    let answer = session.prompt(ASK);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    let stop = session.stop("Decided to wait for the update, because the store is newer.");
    assert_eq!((stop.code, stop.stdout.as_str()), (Some(0), ""));
    for (path, entry) in &before {
        let now = tree(&journal).get(path).and_then(|entry| entry.bytes.clone());
        assert!(now == entry.bytes, "{} was changed", path.display());
    }
    assert!(world.log().contains("Stop "), "a record that cannot be kept is reported: {}", world.log());
}

#[test]
fn field_report_26_new_home_no_home_and_folders_that_are_not_there_are_served() {
    let turn = |world: &World| {
        let project = world.repository("work/proj");
        let mut session = world.session("a", &project);
        let start = session.start("startup");
        let prompt = session.prompt("begin with the parser of the config");
        let stop = session.stop("Decided on a hand-written parser, because the grammar is tiny.");
        let end = session.end();
        for ran in [start, prompt, stop, end] {
            ran.silent();
        }
        project
    };
    let world = World::bare();
    let project = turn(&world);
    assert!(!world.records(&project).is_empty());
    for (path, entry) in tree(&world.store()) {
        let want = if entry.bytes.is_some() { 0o600 } else { 0o700 };
        assert_eq!(entry.mode & 0o777, want, "{}", path.display());
    }

    for (name, value) in
        [("HOME", None), ("HOME", Some("")), ("HOME", Some("relative")), ("HOME", Some("/nonexistent/x"))]
    {
        let mut world = World::bare();
        world.env.remove(name);
        world.env.extend(value.map(|value| (name.to_owned(), value.into())));
        if value == Some("/nonexistent/x") {
            // Nobody, not even the super-user, can make a folder below a file.
            let file = world.path("file");
            fs::write(&file, "").unwrap();
            world.env.insert(name.to_owned(), file.join("x").into_os_string());
        }
        let project = turn(&world);
        assert_eq!(world.on(&project, &["status"]).code, Some(1));
    }

    let mut world = World::bare();
    world.env.insert("XDG_DATA_HOME".to_owned(), world.path("not/yet/there").into_os_string());
    let project = turn(&world);
    assert!(world.path("not/yet/there/hookmem/projects.jsonl").is_file() && !world.records(&project).is_empty());
}

#[test]
fn store_that_is_a_link_to_a_folder_works_and_links_inside_are_refused() {
    let (world, project) = seeded();
    let moved = world.path("elsewhere");
    fs::rename(world.store(), &moved).unwrap();
    symlink(&moved, world.store()).unwrap();
    assert!(world.session("a", &project).prompt(ASK).context("UserPromptSubmit").is_some());

    let own = world.project_store();
    let victim = world.path("victim");
    fs::create_dir(&victim).unwrap();
    fs::remove_dir_all(own.join("journal")).unwrap();
    fs::remove_dir_all(own.join("sessions")).unwrap();
    symlink(&victim, own.join("journal")).unwrap();
    let mut session = world.session("b", &project);
    session.turn("write through the link", "Decided not to follow links, because they lead anywhere.");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
}

#[test]
fn read_only_store_is_served_and_its_captures_are_noted_at_most() {
    let (world, project) = seeded();
    for (path, entry) in tree(&world.store()) {
        let mode = if entry.bytes.is_some() { 0o400 } else { 0o500 };
        fs::set_permissions(world.store().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut session = world.session("a", &project);
    let answer = session.prompt(ASK);
    let stop = session.stop("Decided to go on without a memory, because the disk is read-only.");
    for path in tree(&world.store()).keys() {
        fs::set_permissions(world.store().join(path), fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert!(answer.context("UserPromptSubmit").is_some_and(|text| text.contains("m_topic")));
    stop.silent();
}

#[test]
fn stdin_that_never_ends_does_not_hold_the_host() {
    let (world, project) = seeded();
    let payload = world.session("a", &project).prompt_payload(ASK).to_string();
    for part in ["", payload.get(..40).unwrap(), payload.as_str()] {
        let mut child = world.spawn(&["hook"]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(part.as_bytes()).unwrap();
        let started = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if started.elapsed() > PATIENCE => panic!("still waiting for the end of stdin"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        drop(stdin);
        assert_eq!(status.code(), Some(0));
        finish(child).silent();
    }
}

#[test]
fn payload_of_64_mib_and_more_is_survived() {
    let (world, project) = seeded();
    for bytes in [64 << 20, (64 << 20) + (1 << 20)] {
        let payload = world.session("a", &project).prompt_payload(&"webhook ".repeat(bytes / 8));
        let ran = world.hook(&payload);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn any_bytes_on_stdin_are_survived() {
    let (world, project) = seeded();
    let whole = world.session("a", &project).prompt_payload(ASK).to_string();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for bytes in [
        Vec::new(),
        b"\0\0\0".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"{}".to_vec(),
        br#"{"hook_event_name":7}"#.to_vec(),
        br#"{"hook_event_name":"NoSuchEvent"}"#.to_vec(),
        whole.as_bytes()[..whole.len() - 1].to_vec(),
        deep.into_bytes(),
        vec![0xff; 1000],
    ] {
        world.hook_bytes(bytes).silent();
    }
}
