//! Offline comparison end to end, with small scripts as systems whose answers are known.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// A folder with a synthetic corpus and runs of known quality for it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// 250 questions, 200 of them with an answer: `perfect.run` ranks the judged records first, `poor.run` finds them at
    /// the second place for every other question and not at all else.
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.call("corpus synth corpus --records 1000 --queries 250 --seed 4").assert().success();
        let qrels = fs::read_to_string(place.path("corpus/qrels")).unwrap();
        let (mut perfect, mut poor, mut last, mut nth) = (String::new(), String::new(), String::new(), 0);
        for line in qrels.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            perfect.push_str(&format!("{} Q0 {} 1 {} perfect\n", words[0], words[2], words[3]));
            if last != words[0] {
                last = words[0].to_owned();
                nth += 1;
                poor.push_str(&format!("{last} Q0 nothing 1 9 poor\n"));
                if nth % 2 == 0 {
                    poor.push_str(&format!("{last} Q0 {} 2 8 poor\n", words[2]));
                }
            }
        }
        fs::write(place.path("perfect.run"), perfect).unwrap();
        fs::write(place.path("poor.run"), poor).unwrap();
        // Answers only what it was asked, as a system does.
        let script = "#!/bin/sh\nsed 's/.*\"qid\":\"\\([^\"]*\\)\".*/\\1/' > asked.$$\ngrep -F -f asked.$$ \"$1\"\nrm asked.$$\n";
        fs::write(place.path("answer.sh"), script).unwrap();
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self, args: &str) -> Command {
        let mut command = Command::cargo_bin("hookbench").unwrap();
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command.args(args.split(' ').filter(|word| !word.is_empty()));
        command
    }

    /// An evaluation of systems that answer from run files.
    fn eval(&self, systems: &[(&str, &str)], more: &str) -> Command {
        let mut command = self.call(&format!("eval corpus {more}"));
        for (name, run) in systems {
            command.arg("--system").arg(format!("{name}=sh answer.sh {run}"));
        }
        command
    }
}

fn report(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("evaluation.json")).unwrap()).unwrap()
}

#[test]
fn identical_systems_do_not_differ_and_a_better_one_does() {
    let place = Place::new();
    let systems = [("one", "poor.run"), ("two", "poor.run"), ("best", "perfect.run")];
    place.eval(&systems, "--out out").assert().success();
    let report = report(&place.path("out"));
    let comparisons = report["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 6);
    for one in comparisons {
        let same = one["system"] == "two";
        assert_eq!(one["holds"], !same, "{one}");
        assert_eq!(one["difference"].as_f64().unwrap() == 0.0, same, "{one}");
        assert_eq!(one["n_queries"], 200);
    }
    // The judged records in order of their grade are the best ranking there can be.
    let best = &report["runs"][2]["all"]["ranking"];
    assert_eq!((&best["MRR@10"]["mean"], &best["nDCG@10"]["mean"]), (&1.0.into(), &1.0.into()));
    let poor = &report["runs"][0]["all"]["ranking"];
    assert_eq!(poor["MRR@10"]["mean"], 0.25);
    assert!(place.path("out/evaluation.md").exists());
}

#[test]
fn report_and_scores_fit_their_schemas() {
    let place = Place::new();
    place.eval(&[("one", "poor.run"), ("best", "perfect.run")], "--out out").assert().success();
    let validator = |format: &str| {
        let schema = place.call(&format!("schema {format}")).output().unwrap().stdout;
        jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap()
    };
    assert!(validator("evaluation").is_valid(&report(&place.path("out"))));
    let scores = validator("scores");
    let lines = fs::read_to_string(place.path("out/scores.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 501);
    assert!(lines.lines().all(|line| scores.is_valid(&serde_json::from_str(line).unwrap())));
}

#[test]
fn a_system_that_crashes_or_hangs_loses_only_its_own_row() {
    let place = Place::new();
    let mut command = place.eval(&[("good", "perfect.run")], "--out out --timeout 5");
    for system in ["crash=echo oh no >&2; exit 3", "hang=sleep 600", "babble=echo hello", "mute=true"] {
        command.arg("--system").arg(system);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let report = report(&place.path("out"));
    assert_eq!(report["runs"].as_array().unwrap().len(), 1);
    let failed: Vec<String> = report["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["system"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        failed,
        [
            "crash it ended with code 3: oh no",
            "hang it still ran after 5 s",
            "babble line 1 of its output is no line of a run: `hello`",
            "mute it printed no line of a run",
        ]
    );
}

#[test]
fn a_baseline_that_crashes_leaves_the_others_their_rows_and_says_why() {
    let place = Place::new();
    for good in [&[("good", "perfect.run")][..], &[]] {
        let mut command = place.eval(good, "--out out --against crash");
        let output = command.arg("--system").arg("crash=echo oh no >&2; exit 3").output().unwrap();
        let talk = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{talk}");
        assert!(talk.contains("no answer from crash: it ended with code 3: oh no"), "{talk}");
        assert_eq!(report(&place.path("out"))["runs"].as_array().unwrap().len(), good.len());
    }
}

#[test]
fn a_resumed_evaluation_runs_no_system_again() {
    let place = Place::new();
    let counted = "counted=echo x >> count; sh answer.sh poor.run";
    for (more, n) in [("--out out", 1), ("--out out --resume", 1), ("--out out", 2)] {
        place.call(&format!("eval corpus {more}")).arg("--system").arg(counted).assert().success();
        assert_eq!(fs::read_to_string(place.path("count")).unwrap().lines().count(), n, "{more}");
    }
    // Other questions are another evaluation.
    fs::copy(place.path("corpus/queries.jsonl"), place.path("q")).unwrap();
    let shorter: String =
        fs::read_to_string(place.path("q")).unwrap().lines().take(240).map(|line| format!("{line}\n")).collect();
    fs::write(place.path("corpus/queries.jsonl"), shorter).unwrap();
    place.call("eval corpus --out out --resume").arg("--system").arg(counted).assert().success();
    assert_eq!(fs::read_to_string(place.path("count")).unwrap().lines().count(), 3);
}

#[test]
fn merged_shards_are_the_whole() {
    let place = Place::new();
    let systems = [("one", "poor.run"), ("best", "perfect.run")];
    place.eval(&systems, "--out whole").assert().success();
    for k in 1..=4 {
        place.eval(&systems, &format!("--out part{k} --shard {k}/4")).assert().success();
    }
    place.call("merge part3 part1 part4 part2 --out merged").assert().success();
    let (whole, merged) = (report(&place.path("whole")), report(&place.path("merged")));
    for part in ["runs", "comparisons"] {
        assert_eq!(whole[part], merged[part]);
    }
    for file in ["evaluation.md", "scores.jsonl"] {
        let [whole, merged] =
            ["whole", "merged"].map(|folder| fs::read_to_string(place.path(folder).join(file)).unwrap());
        assert_eq!(whole, merged, "{file}");
    }
    let output = place.call("merge part1 part2 part4 --out gap").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the parts do not make a whole: 1/4, 2/4, 4/4"));
}

#[test]
fn a_sweep_tries_every_combination_and_draws_what_it_found() {
    let place = Place::new();
    let sweep = "version = 1\n[[system]]\nname = \"s\"\n\
                 command = \"sh answer.sh {run}.run | sed 's/ [a-z]*$/ tag{top_n}/'\"\n\
                 [system.grid]\nrun = [\"perfect\", \"poor\"]\ntop_n = [1, 3]\n";
    fs::write(place.path("sweep.toml"), sweep).unwrap();
    place.call("eval corpus --sweep sweep.toml --out out").assert().success();
    let report = report(&place.path("out"));
    let names: Vec<&str> = report["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["s,run=perfect@1", "s,run=perfect@3", "s,run=poor@1", "s,run=poor@3"]);
    let plot = fs::read_to_string(place.path("out/quality-by-segments.svg")).unwrap();
    assert!(plot.contains("<title>s,run=poor@3: 0.250 at 3</title>"), "{plot}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so_before_it_starts() {
    let place = Place::new();
    let output = place.eval(&[("one", "poor.run")], "--out out --parquet scores.parquet").output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(talk.contains("cannot write Parquet") && talk.contains("--features parquet"), "{talk}");
    assert!(!place.path("out").exists() && !place.path("scores.parquet").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_a_row_for_every_run_and_query() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let place = Place::new();
    let systems = [("one", "poor.run"), ("best", "perfect.run")];
    place.eval(&systems, "--out out --parquet scores.parquet").assert().success();
    let reader = SerializedFileReader::new(fs::File::open(place.path("scores.parquet")).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 500);
}

/// Figures only: the collection is not committed, see `reports/strategies/`.
#[test]
fn ours_beats_local_distinctiveness_on_open_collections() {
    let data = std::env::var_os("HOOKBENCH_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), std::path::PathBuf::from);
    let (small, hookmem) = (data.join("small"), assert_cmd::cargo::cargo_bin("hookmem"));
    if !small.join("corpus.jsonl").is_file() || !hookmem.is_file() {
        eprintln!("skipped: needs HOOKBENCH_DATA with small/, and hookmem built (`cargo build -p hookmem`)");
        return;
    }
    let place = Place::new();
    let system = format!(
        "s={} rank --corpus {{corpus}} --queries - --decisions {{decisions}} --strategy \
         all-segments,best-record,local-distinctiveness",
        hookmem.display()
    );
    let mut command = place.call("eval --out out --against local-distinctiveness --system");
    command.arg(system).arg(fs::canonicalize(small).unwrap()).assert().success();
    let report = report(&place.path("out"));
    let ours: Vec<&Value> =
        report["comparisons"].as_array().unwrap().iter().filter(|one| one["system"] == "best-record").collect();
    for measure in ["MRR@10", "P@1", "R@10"] {
        let one = ours.iter().find(|one| one["measure"] == measure).unwrap();
        assert!(one["holds"] == true && one["difference"].as_f64().unwrap() > 0.1, "{one}");
    }
    // Against no routing: the first record is the same, and at most .02 of the relevant ones leave the first ten.
    let mean = |run: usize, measure: &str| report["runs"][run]["all"]["ranking"][measure]["mean"].as_f64().unwrap();
    assert_eq!(report["runs"][0]["name"], "all-segments");
    assert!(mean(1, "P@1") >= mean(0, "P@1") && mean(1, "R@10") >= mean(0, "R@10") - 0.02);
}

#[test]
fn mistakes_of_the_user_are_named() {
    let place = Place::new();
    for (args, system, why, remedy) in [
        ("eval corpus", "nonsense", "`nonsense` is no system", "write NAME=CMD"),
        ("eval corpus --shard 5/4", "a=cat poor.run", "`5/4` is no part", "write K/N"),
        ("eval nowhere", "a=true", "is not there", "help: "),
        ("eval corpus --against other", "a=sh answer.sh poor.run", "no run has this name", "name one of a"),
        ("eval corpus --sweep none.toml", "a=true", "cannot be read", "[[system]] tables"),
    ] {
        let output = place.call(args).arg("--system").arg(system).output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args}: {talk}");
        assert!(talk.contains(why) && talk.contains(remedy), "{args}: {talk}");
    }
}

const RECORD: &str = r#"{"doc_id":"m_1","session_id":"s_1","project":"p","type":"outcome","timestamp":"2026-01-01T00:00:00Z","request":"r","result":"x"}"#;
const QUERY: &str =
    r#"{"qid":"q_1","project":"p","form":"prompt","kind":"answerable","timestamp":"2026-01-02T00:00:00Z","text":"t"}"#;

/// A place with a corpus of one memory and one question, from these files.
fn small(records: &[u8], queries: &[u8], qrels: &str) -> Place {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    fs::create_dir(place.path("corpus")).unwrap();
    fs::write(place.path("corpus/corpus.jsonl"), records).unwrap();
    fs::write(place.path("corpus/queries.jsonl"), queries).unwrap();
    fs::write(place.path("corpus/qrels"), qrels).unwrap();
    place
}

fn one_question() -> Place {
    small(RECORD.as_bytes(), QUERY.as_bytes(), "q_1 0 m_1 3\n")
}

#[test]
fn a_corpus_that_can_show_nothing_is_refused_by_file_and_line() {
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let (record, query, qrels) = (RECORD.as_bytes(), QUERY.as_bytes(), "q_1 0 m_1 3\n");
    let unknown = QUERY.replace("answerable", "perhaps");
    for (place, why) in [
        (small(record, query, ""), "corpus/qrels: judges no answer"),
        (small(record, query, "q_1 0 m_1 1\n"), "corpus/qrels: judges no answer"),
        (small(record, query, "q_2 0 m_1 3\n"), "corpus/qrels: judges no answer"),
        (small(record, unknown.as_bytes(), qrels), "queries.jsonl:1: no question has the kind `perhaps`"),
        (small(&marked(RECORD), query, qrels), "corpus.jsonl:1: begins with a byte order mark"),
        (small(record, &marked(QUERY), qrels), "queries.jsonl:1: begins with a byte order mark"),
    ] {
        let output = place.call("eval corpus --system").arg("a=touch ran; echo q_1 0 m_1 1 1 t").output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{talk}");
        assert!(talk.contains(why) && talk.contains("help: "), "{why}: {talk}");
        assert!(!place.path("ran").exists(), "{why}");
    }
    // Whether a system is silent where it should be needs no judgement.
    let silent = QUERY.replace("answerable", "noanswer");
    small(record, silent.as_bytes(), "").call("eval corpus --system").arg("a=echo q_1 0 m_1 1 1 t").assert().success();
}

#[test]
fn nothing_runs_when_nothing_can_be_kept() {
    let place = one_question();
    fs::write(place.path("file"), "").unwrap();
    for (out, temporary, why) in [
        ("file/out", place.path(""), "name a folder that can be written with --out"),
        ("out", place.path("nowhere"), "name another folder in TMPDIR"),
    ] {
        let mut call = place.call(&format!("eval corpus --out {out} --system"));
        let output = call.arg("a=touch ran; echo q_1 0 m_1 1 1 t").env("TMPDIR", temporary).output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{talk}");
        assert!(talk.contains(why), "{talk}");
        assert!(!place.path("ran").exists());
    }
}

#[test]
fn names_and_reasons_of_systems_neither_act_nor_break_a_table() {
    let place = one_question();
    let hostile = "a\u{1b}[2J\u{202e}|<script>";
    for markdown in ["", "--markdown"] {
        let mut call = place.call(&format!("eval corpus {markdown}"));
        call.arg("--system").arg(format!("{hostile}=echo q_1 0 m_1 1 1 t"));
        // Tags are a system's own words.
        call.arg("--system").arg("tags=printf 'q_1 0 m_1 1 1 x\\033[31m\\nq_1 0 m_1 1 1 y|\\342\\200\\256\\n'");
        call.arg("--system").arg("failed=printf '\\302\\233 \\342\\200\\256 | <b>' >&2; exit 3");
        let output = call.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("it ended with code 3"), "{text}");
        assert!(text.chars().all(|sign| sign == '\n' || !sign.is_control() && sign != '\u{202e}'), "{text:?}");
        if markdown.is_empty() {
            continue;
        }
        assert!(!text.contains("<script>") && !text.contains("<b>"), "{text}");
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        let (header, ruled) = (bars(rows[0]), bars(rows[1]));
        assert_eq!(header, ruled);
        assert!(rows[2..5].iter().all(|row| bars(row) == header), "{text}");
    }
}

#[test]
fn runs_of_one_name_are_told_apart() {
    let place = one_question();
    let line = "echo q_1 0 m_1 1 1";
    let mut call = place.call("eval corpus --out out");
    // Two runs each; those of the second are called like those of the first, and what tells them apart is taken too.
    for (name, tags) in [("one", ["x", "two:x"]), ("two", ["x", "y"]), ("y", ["y", "two:y"]), ("two:x", ["x", "y"])] {
        call.arg("--system").arg(format!("{name}={line} {}; {line} {}", tags[0], tags[1]));
    }
    call.assert().success();
    let report = report(&place.path("out"));
    let mut names: Vec<&str> =
        report["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 8, "{names:?}");
    fs::write(place.path("sweep.toml"), "version = 1\n[[system]]\nname = \"a\"\ncommand = \"true\"\n").unwrap();
    let output = place.call("eval corpus --sweep sweep.toml --system a=true").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("two systems are called `a`"));
}

#[test]
fn a_corpus_that_no_evaluation_made_is_never_replaced() {
    let manifest = |about: &str| {
        format!(
            "{{\"format\":\"hookbench-corpus\",\"version\":1,\"name\":\"c\",\"memories\":1,\"sessions\":1,\"queries\":1,\
            \"answerable\":1,\"noanswer\":0,\"judgements\":1,\"about\":\"{about}\"}}"
        )
    };
    let made = "Made by `hookbench corpus from-git` from a history";
    for (about, more) in [("by hand", None), (made, Some("notes.txt"))] {
        let place = one_question();
        fs::write(place.path("corpus/manifest.json"), manifest(about)).unwrap();
        if let Some(more) = more {
            fs::write(place.path("corpus").join(more), "mine").unwrap();
        }
        let output = place.call("eval --repo . --out . --system a=true").output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{talk}");
        assert!(talk.contains("it is not replaced"), "{talk}");
        assert_eq!(fs::read_to_string(place.path("corpus/corpus.jsonl")).unwrap(), RECORD);
    }
    // One that an evaluation made goes, whatever comes after.
    let place = one_question();
    fs::write(place.path("corpus/manifest.json"), manifest(made)).unwrap();
    let output =
        place.call("eval --repo . --out . --system a=true").env("GIT_CEILING_DIRECTORIES", "/").output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("it is not replaced"));
    assert!(!place.path("corpus").exists());
}
