//! Corpora from git histories that the test makes itself, so that every link is known.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use git2::{Oid, Repository, Signature, Time};
use hookbench::corpus::check::check;
use hookbench::corpus::from_git::{Recipe, from_git};
use serde_json::Value;

/// Start of every history: 2026-01-05 09:00:00 UTC.
const START_S: i64 = 1_767_603_600;
const HOUR_S: i64 = 3_600;

struct History {
    repository: Repository,
    folder: tempfile::TempDir,
}

impl History {
    fn new() -> History {
        let folder = tempfile::tempdir().unwrap();
        History { repository: Repository::init(folder.path()).unwrap(), folder }
    }

    /// Commits files at an hour on top of `parents`, as an author.
    fn commit(&self, hour: i64, author: &str, message: &str, files: &[(&str, &str)], parents: &[Oid]) -> Oid {
        let parents: Vec<_> = parents.iter().map(|oid| self.repository.find_commit(*oid).unwrap()).collect();
        let base = parents.first().map(|parent| parent.tree().unwrap());
        let mut builder = git2::build::TreeUpdateBuilder::new();
        for (path, text) in files {
            builder.upsert(*path, self.repository.blob(text.as_bytes()).unwrap(), git2::FileMode::Blob);
        }
        let empty = self.repository.find_tree(self.repository.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let tree = builder.create_updated(&self.repository, base.as_ref().unwrap_or(&empty)).unwrap();
        let mail = format!("{}@example.org", author.to_lowercase().replace(' ', "."));
        let signature = Signature::new(author, &mail, &Time::new(START_S + hour * HOUR_S, 0)).unwrap();
        let tree = self.repository.find_tree(tree).unwrap();
        let parents: Vec<_> = parents.iter().collect();
        let oid = self.repository.commit(None, &signature, &signature, message, &tree, &parents).unwrap();
        self.repository.reference("refs/heads/main", oid, true, "test").unwrap();
        self.repository.set_head("refs/heads/main").unwrap();
        oid
    }

    fn corpus(&self, queries: u64) -> tempfile::TempDir {
        let out = tempfile::tempdir().unwrap();
        let recipe = Recipe { project: "made".to_owned(), queries, max_commits: 1_000 };
        from_git(self.folder.path(), &recipe, &out.path().join("corpus")).unwrap();
        out
    }
}

fn rows(out: &tempfile::TempDir, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(out.path().join("corpus").join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// qid → memory's revision → grade.
fn grades(out: &tempfile::TempDir) -> BTreeMap<String, BTreeMap<String, u8>> {
    let of_doc: BTreeMap<String, String> = rows(out, "corpus.jsonl")
        .iter()
        .map(|row| {
            let summary = if row["type"] == "session-summary" { "summary " } else { "" };
            (text(row, "doc_id"), format!("{summary}{}", text(row, "revision")))
        })
        .collect();
    let mut grades: BTreeMap<String, BTreeMap<String, u8>> = BTreeMap::new();
    for line in fs::read_to_string(out.path().join("corpus/qrels")).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let doc = of_doc[words[2]].clone();
        grades.entry(words[0].to_owned()).or_default().insert(doc, words[3].parse().unwrap());
    }
    grades
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap().to_owned()
}

fn short(oid: Oid) -> String {
    oid.to_string().chars().take(12).collect()
}

fn lines(prefix: &str, n: usize) -> String {
    (0..n).map(|at| format!("    let {prefix}_{at} = compute_{prefix}({at});\n")).collect()
}

/// One author's trunk: each change a day later, so each its own session; two later changes ask.
#[test]
fn whoever_wrote_the_touched_lines_answers() {
    let history = History::new();
    let (a, b) = (lines("alpha", 6), lines("beta", 6));
    let first = history.commit(0, "Ada Example", "Add the alpha stage", &[("src/stage.rs", &a)], &[]);
    let second =
        history.commit(30, "Ada Example", "Append the beta stage", &[("src/stage.rs", &(a.clone() + &b))], &[first]);
    let mut parent = second;
    for nth in 0..8 {
        let file = format!("src/other_{nth}.rs");
        let message = format!("Write part number {nth} of the others");
        parent = history.commit(60 + 30 * nth, "Ada Example", &message, &[(&file, &lines("other", 5))], &[parent]);
    }
    // Changes two of the beta lines, and nothing else.
    let changed = a.clone() + &b.replace("beta_2", "gamma_2").replace("beta_3", "gamma_3");
    let third = history.commit(
        400,
        "Bo Sample",
        "Rename what the second stage keeps",
        &[("src/stage.rs", &changed)],
        &[parent],
    );
    let fourth = history.commit(
        500,
        "Bo Sample",
        "Again rename what a stage keeps (#7)",
        &[("src/stage.rs", &changed.replace("alpha_1", "delta_1"))],
        &[third],
    );
    history.commit(600, "Bo Sample", "Something else in its own file", &[("src/new.rs", &lines("new", 3))], &[fourth]);
    history.commit(
        700,
        "Bo Sample",
        "And more in its own file again",
        &[("src/newer.rs", &lines("newer", 3))],
        &[fourth],
    );
    let out = history.corpus(60);
    assert_eq!(check(&out.path().join("corpus")).unwrap().faults, Vec::<String>::new());
    let queries = rows(&out, "queries.jsonl");
    let grades = grades(&out);
    let of = |time: &str, form: &str| {
        let query = queries.iter().find(|row| text(row, "timestamp").starts_with(time) && row["form"] == form);
        query.map(|row| grades[&text(row, "qid")].clone())
    };
    // Hour 400 is 2026-01-22: all touched lines were written by the second change, the first shares the rare file.
    let edit = of("2026-01-22", "tool_edit").or_else(|| of("2026-01-22", "prompt")).unwrap();
    assert_eq!(edit, BTreeMap::from([(short(second), 3), (short(first), 1)]));
    // No name of a person is left, and nobody's address.
    for file in ["corpus.jsonl", "queries.jsonl", "written.jsonl"] {
        let text = fs::read_to_string(out.path().join("corpus").join(file)).unwrap();
        assert!(!text.contains("Example") && !text.contains("Sample") && !text.contains("example.org"), "{file}");
    }
}

/// Two branches that were merged, a revert, a bot and a release.
#[test]
fn merges_make_sessions_and_messages_make_links() {
    let history = History::new();
    let root =
        history.commit(0, "Ada Example", "Start the queue with a lease", &[("src/lease.rs", &lines("lease", 8))], &[]);
    let mut trunk = root;
    let mut branch_changes = Vec::new();
    for nth in 0..5 {
        let hour = 30 + 60 * nth;
        let path = format!("src/part_{nth}.rs");
        let one = history.commit(
            hour,
            "Bo Sample",
            &format!("Draft of part {nth} that works"),
            &[(&path, &lines("part", 4))],
            &[trunk],
        );
        let two = history.commit(
            hour + 5,
            "Ada Example",
            &format!("Finish part {nth} with tests, thanks to Bo Sample"),
            &[(&path, &lines("done", 4))],
            &[one],
        );
        let merge = format!("Merge pull request #{} from bosample/part-{nth}", 40 + nth);
        trunk = history.commit(hour + 6, "Ada Example", &merge, &[(&path, &lines("done", 4))], &[trunk, two]);
        branch_changes.push((one, two));
    }
    trunk =
        history.commit(330, "dependabot[bot]", "Bump everything", &[("src/bumped.rs", &lines("bump", 3))], &[trunk]);
    trunk = history.commit(331, "Ada Example", "v1.2.3", &[("src/version.rs", "pub const V: u8 = 1;\n")], &[trunk]);
    let body = format!(
        "Take back the third part again\n\nThis reverts commit {}, which lost jobs in the field.\n",
        branch_changes[2].1
    );
    let revert = history.commit(400, "Cy Third", &body, &[("src/part_2.rs", &lines("part", 4))], &[trunk]);
    let next = history.commit(
        500,
        "Cy Third",
        "Look at part 3 once more, see #43",
        &[("src/part_3.rs", &lines("redone", 4))],
        &[revert],
    );
    history.commit(
        600,
        "Cy Third",
        "Make a new file for the last part",
        &[("src/last.rs", &lines("last", 4))],
        &[next],
    );
    let out = history.corpus(60);
    let found = check(&out.path().join("corpus")).unwrap();
    assert_eq!(found.faults, Vec::<String>::new());
    let records = rows(&out, "corpus.jsonl");
    // The two changes of a merged branch are a session, with a summary; the bot and the release are nothing.
    let session = |oid: Oid| {
        records
            .iter()
            .find(|row| row["revision"] == short(oid) && row["type"] != "session-summary")
            .map(|row| text(row, "session_id"))
    };
    assert_eq!(session(branch_changes[0].0).unwrap(), session(branch_changes[0].1).unwrap());
    assert_ne!(session(branch_changes[0].0), session(branch_changes[1].0));
    assert!(
        records
            .iter()
            .any(|row| row["type"] == "session-summary" && row["session_id"] == session(branch_changes[0].0).unwrap())
    );
    assert!(records.iter().all(|row| !text(row, "request").contains("Bump") && row["request"] != "v1.2.3"));
    let merged = records
        .iter()
        .find(|row| row["revision"] == short(branch_changes[0].1) && row["type"] != "session-summary")
        .unwrap();
    assert_eq!(merged["branch"], "part-0");
    assert!(text(merged, "result").contains("PR #40.") && text(merged, "request").ends_with("thanks to <person>"));
    // What a revert names answers, whatever else does.
    let grades = grades(&out);
    let asks_about_revert = rows(&out, "queries.jsonl")
        .iter()
        .filter(|row| text(row, "timestamp").starts_with("2026-01-22"))
        .map(|row| text(row, "qid"))
        .collect::<Vec<_>>();
    assert!(!asks_about_revert.is_empty());
    assert!(
        asks_about_revert
            .iter()
            .filter_map(|qid| grades.get(qid))
            .all(|graded| graded.get(&short(branch_changes[2].1)) == Some(&3)),
        "{grades:?}"
    );
}

#[test]
fn the_same_history_gives_the_same_corpus() {
    let history = History::new();
    let mut parent = history.commit(0, "Ada Example", "Start of everything here", &[("src/a.rs", &lines("a", 5))], &[]);
    for nth in 1..12 {
        let text = lines("a", 5).replacen("a_2", &format!("a_2_{nth}"), 1);
        parent = history.commit(
            30 * nth,
            "Ada Example",
            &format!("Change number {nth} of the line"),
            &[("src/a.rs", &text)],
            &[parent],
        );
    }
    let (one, two) = (history.corpus(30), history.corpus(30));
    for file in ["corpus.jsonl", "written.jsonl", "queries.jsonl", "qrels", "manifest.json"] {
        let read = |out: &tempfile::TempDir| fs::read(out.path().join("corpus").join(file)).unwrap();
        assert_eq!(read(&one), read(&two), "{file}");
    }
}

#[test]
fn a_folder_without_history_is_refused() {
    let recipe = Recipe { project: "p".to_owned(), queries: 10, max_commits: 10 };
    let out = tempfile::tempdir().unwrap();
    let failure = from_git(out.path(), &recipe, &out.path().join("c")).unwrap_err().to_string();
    assert!(failure.contains("help: name a repository with commits"), "{failure}");
    let history = History::new();
    history.commit(0, "Ada Example", "Only one commit here", &[("a.rs", "x\n")], &[]);
    let failure = from_git(history.folder.path(), &recipe, &out.path().join("c")).unwrap_err().to_string();
    assert!(failure.contains("has 1 changes") && failure.contains("longer history"), "{failure}");
    assert!(!out.path().join("c").exists());
}

/// Seven small changes on one branch, oldest first.
fn seven_changes() -> (History, Vec<Oid>) {
    let history = History::new();
    let mut oids: Vec<Oid> = Vec::new();
    for nth in 0..7 {
        let text = lines(&format!("change{nth}"), 5);
        let message = format!("Change how part number {nth} works");
        oids.push(history.commit(
            nth * 30,
            "Ada Example",
            &message,
            &[("a.rs", &text)],
            &oids[oids.len().saturating_sub(1)..],
        ));
    }
    (history, oids)
}

#[test]
fn a_commit_with_a_time_that_no_calendar_has_is_left_out() {
    let (history, oids) = seven_changes();
    let mut last = oids[6];
    for hour in [i64::MAX / HOUR_S - START_S, 99_999_999_999, i64::MIN / HOUR_S] {
        let text = lines(&format!("far{hour}"), 3);
        last = history.commit(hour, "Ada Example", "Change the far away part", &[("b.rs", &text)], &[last]);
    }
    let out = history.corpus(10);
    assert_eq!(check(&out.path().join("corpus")).unwrap().faults, Vec::<String>::new());
    assert!(rows(&out, "corpus.jsonl").iter().all(|row| text(row, "timestamp").starts_with("2026-01")));
}

#[test]
fn a_history_with_a_hole_is_refused_and_not_cut_short() {
    let (history, oids) = seven_changes();
    let id = oids[3].to_string();
    fs::remove_file(history.folder.path().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let out = tempfile::tempdir().unwrap();
    let recipe = Recipe { project: "p".to_owned(), queries: 10, max_commits: 1_000 };
    let failure = from_git(history.folder.path(), &recipe, &out.path().join("c")).unwrap_err().to_string();
    assert!(failure.contains("git cannot read it") && failure.contains(&id), "{failure}");
    assert!(!out.path().join("c").exists());
}

/// The history of this project itself, when the test runs in its clone: stable, and fit.
#[test]
fn this_project_gives_a_fit_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let recipe = Recipe { project: "hookbench".to_owned(), queries: 60, max_commits: 5_000 };
    let out = tempfile::tempdir().unwrap();
    let made =
        [out.path().join("one"), out.path().join("two")].map(|folder| (from_git(root, &recipe, &folder), folder));
    for (result, folder) in &made {
        match result {
            Ok(_) => assert_eq!(check(folder).unwrap().faults, Vec::<String>::new()),
            // An exported tree or a shallow clone has no history to speak of.
            Err(failure) => {
                let text = failure.to_string();
                assert!(text.contains("help: "), "{text}");
                eprintln!("skipped: this copy of the project has no history: {text}");
                return;
            }
        }
    }
    for file in ["corpus.jsonl", "queries.jsonl", "qrels"] {
        assert_eq!(fs::read(made[0].1.join(file)).unwrap(), fs::read(made[1].1.join(file)).unwrap());
    }
}
