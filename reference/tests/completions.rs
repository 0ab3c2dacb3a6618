//! Completion scripts and manual pages of hookmem.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;

use assert_cmd::Command;

/// Standard output of a call that ends well.
fn call(words: &[&str]) -> String {
    let seen = Command::new(env!("CARGO_BIN_EXE_hookmem")).args(words).assert().code(0);
    String::from_utf8(seen.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = call(&["completions", shell]);
        assert!(["hookmem", "forget", "compact"].iter().all(|word| script.contains(word)), "{shell}");
    }
    Command::new(env!("CARGO_BIN_EXE_hookmem")).args(["completions", "cmd"]).assert().code(2);
}

#[test]
fn manual_has_a_page_for_every_command() {
    assert!(call(&["man"]).contains(".TH hookmem 1"));
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    call(&["man", "--out", pages.to_str().unwrap()]);
    for page in ["hookmem.1", "hookmem-forget.1", "hookmem-man.1"] {
        assert!(fs::read_to_string(pages.join(page)).unwrap().contains(".SH NAME"), "{page}");
    }
    fs::write(folder.path().join("file"), "").unwrap();
    let refused = folder.path().join("file");
    Command::new(env!("CARGO_BIN_EXE_hookmem")).args(["man", "--out"]).arg(refused).assert().code(1);
}
