//! Completion scripts and manual pages, as a shell and a reader of pages would take them.

use std::process::Command;

use crate::bench::{ANY, Bench, stderr, stdout};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let bench = Bench::of(ANY);
    for shell in SHELLS {
        let script = stdout(&bench.call(&format!("completions {shell}")).code(0));
        for word in ["hookbench", "review", "reject", "interactive", "no-write"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
    let refused = bench.call("completions cmd").code(2);
    assert!(stderr(&refused).contains("bash"), "{}", stderr(&refused));
}

#[test]
fn script_for_bash_completes_a_command_and_a_flag() {
    let bench = Bench::of(ANY);
    bench.write("complete", &stdout(&bench.call("completions bash").code(0)));
    for (words, expected) in
        [("hookbench rev", "review"), ("hookbench accept --st", "--step"), ("hookbench report --to ju", "junit")]
    {
        let n_words = words.split(' ').count();
        let (current, previous) = (words.split(' ').next_back().unwrap(), words.split(' ').nth(n_words - 2).unwrap());
        let script = format!(
            "source ./complete; COMP_WORDS=({words}); COMP_CWORD={}; _hookbench hookbench '{current}' '{previous}'; \
             echo \"${{COMPREPLY[*]}}\"",
            n_words - 1
        );
        let seen = Command::new("bash").args(["-c", &script]).current_dir(bench.path("")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&seen.stdout), format!("{expected}\n"), "{words}: {seen:?}");
    }
}

#[test]
fn manual_has_a_page_for_every_command() {
    let bench = Bench::of(ANY);
    let page = stdout(&bench.call("man").code(0));
    assert!(page.contains(".TH hookbench 1") && page.contains("hookbench\\-review(1)"), "{page}");
    bench.call("man --out pages/man1").code(0);
    for command in
        ["hookbench", "hookbench-run", "hookbench-review", "hookbench-accept", "hookbench-reject", "hookbench-man"]
    {
        let page = bench.read(&format!("pages/man1/{command}.1"));
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    bench.write("file", "");
    let refused = bench.call("man --out file").code(2);
    assert!(stderr(&refused).contains("help: name a folder"), "{}", stderr(&refused));
}
