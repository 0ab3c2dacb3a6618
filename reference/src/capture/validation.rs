//! Which shell commands check the work, and whether they passed.
//!
//! By rule: a command counts when one of its parts runs a known test, build or lint tool. A tool's failure is a
//! failure; success of a piped or chained command counts only when its output does not say otherwise. Guarantee: no
//! output is kept, only pass or fail and an exit code. Deliberately not here: running anything.

use crate::transcript::span::{Command, Ending};

/// First words of commands that check something, the longest match not needed.
const CHECKS: [&str; 86] = [
    "cargo test",
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo nextest",
    "cargo bench",
    "cargo fmt --check",
    "cargo doc",
    "cargo miri",
    "npm test",
    "npm t",
    "npm run test",
    "npm run build",
    "npm run lint",
    "npm run check",
    "npm run typecheck",
    "pnpm test",
    "pnpm build",
    "pnpm lint",
    "pnpm run",
    "yarn test",
    "yarn build",
    "yarn lint",
    "bun test",
    "bun run test",
    "bun run build",
    "deno test",
    "deno check",
    "deno lint",
    "npx jest",
    "npx vitest",
    "npx tsc",
    "npx eslint",
    "npx playwright",
    "jest",
    "vitest",
    "mocha",
    "tsc",
    "eslint",
    "biome",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "uv run pytest",
    "poetry run pytest",
    "tox",
    "nox",
    "mypy",
    "ruff",
    "pyright",
    "black --check",
    "go test",
    "go build",
    "go vet",
    "golangci-lint",
    "make",
    "ninja",
    "cmake --build",
    "ctest",
    "meson test",
    "bazel test",
    "bazel build",
    "mvn",
    "./mvnw",
    "gradle",
    "./gradlew",
    "sbt",
    "dotnet test",
    "dotnet build",
    "swift test",
    "swift build",
    "xcodebuild",
    "mix test",
    "mix compile",
    "mix credo",
    "mix dialyzer",
    "mix format --check",
    "rspec",
    "bundle exec",
    "rake",
    "phpunit",
    "zig build",
    "just",
    "shellcheck",
];

/// Words of output that mean failure although the shell said success.
const FAILURE_WORDS: [&str; 14] = [
    "test result: FAILED",
    "FAILED (",
    "error: could not compile",
    "error[E",
    "npm ERR!",
    "--- FAIL",
    "FAIL\t",
    "BUILD FAILED",
    "Build FAILED",
    "Tests failed",
    " failed,",
    " failed in ",
    "compilation failed",
    "error TS",
];

/// What at least one of is in each of [`FAILURE_WORDS`]: a look at these few spares the others.
const FAILURE_STEMS: [&str; 4] = ["FAIL", "failed", "error", "ERR!"];

/// Whether a command's result is worth waiting for.
pub fn is_check(command: &str) -> bool {
    check_part(command).is_some()
}

/// One check: what was run and whether it passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The checking part of the command.
    pub line: String,
    /// True when it passed.
    pub passed: bool,
    /// The exit code of a failure, when it was told.
    pub exit_code: Option<i32>,
    /// It failed before it passed.
    pub after_failure: bool,
}

/// The last result of each check, in order of the last run; checks without a known end are left out.
pub fn checks(commands: &[Command]) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for command in commands {
        let Some(line) = check_part(&command.line) else { continue };
        let (passed, exit_code) = match command.ending {
            Ending::Unknown => continue,
            Ending::Failed(code) => (false, code),
            Ending::Succeeded => (!tells_failure(&command.output), None),
        };
        let before = checks.iter().position(|check| check.line == line).map(|at| checks.remove(at));
        let after_failure = passed && before.is_some_and(|before| !before.passed || before.after_failure);
        checks.push(Check { line: line.to_owned(), passed, exit_code, after_failure });
    }
    checks
}

impl Check {
    /// The check as one line of a record.
    pub fn text(&self) -> String {
        match (self.passed, self.exit_code, self.after_failure) {
            (true, _, true) => format!("`{}`: passed, after failing first", self.line),
            (true, _, false) => format!("`{}`: passed", self.line),
            (false, Some(code), _) => format!("`{}`: failed (exit code {code})", self.line),
            (false, None, _) => format!("`{}`: failed", self.line),
        }
    }
}

fn tells_failure(output: &str) -> bool {
    FAILURE_STEMS.iter().any(|stem| memchr::memmem::find(output.as_bytes(), stem.as_bytes()).is_some())
        && FAILURE_WORDS.iter().any(|word| says(output, word))
}

/// `0 failed, 3 passed` is no failure.
fn says(output: &str, word: &str) -> bool {
    memchr::memmem::find_iter(output.as_bytes(), word).any(|at| {
        let before = output.get(..at).unwrap_or("");
        let number: String = before.chars().rev().take_while(char::is_ascii_digit).collect();
        !word.starts_with(" failed") || number.chars().any(|digit| digit != '0')
    })
}

/// The part of a command line that runs a check, without variables, wrappers and redirections.
fn check_part(command: &str) -> Option<&str> {
    let command = command.get(..command.floor_char_boundary(2_048)).unwrap_or(command);
    command.split(['\n', ';', '|', '&']).find_map(|part| {
        let part = part.trim().trim_start_matches(['(', '{']).trim_start();
        let start = without_prefixes(part);
        let end = [" 2>", " >", " <"].iter().filter_map(|mark| start.find(mark)).min().unwrap_or(start.len());
        let line = start.get(..end)?.trim_end_matches([')', '}', ' ']);
        let runs = |check: &str| {
            line.strip_prefix(check).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':', '\t']))
        };
        let asks_version = line.ends_with("--version") || line.ends_with("--help");
        (CHECKS.iter().any(|check| runs(check)) && !asks_version).then_some(line)
    })
}

/// Skips `VAR=value`, `time`, `sudo`, `timeout 60` and the like.
fn without_prefixes(part: &str) -> &str {
    let mut rest = part;
    loop {
        let Some((word, after)) = rest.split_once(' ') else { return rest };
        let assigns = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let wraps =
            matches!(word, "time" | "sudo" | "nice" | "env" | "command" | "exec" | "nohup" | "!" | "then" | "do");
        let counts = word == "timeout";
        if !(assigns || wraps || counts) {
            return rest;
        }
        rest = after.trim_start();
        if counts {
            rest = rest.split_once(' ').map_or("", |(_, after)| after).trim_start();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str, ending: Ending, output: &str) -> Command {
        Command { line: line.to_owned(), ending, output: output.to_owned() }
    }

    fn check(commands: &[Command], expect: &[&str]) {
        let found: Vec<String> = checks(commands).iter().map(Check::text).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn tests_builds_and_lints_are_found_inside_longer_commands() {
        for command in [
            "cargo test --workspace",
            "cd sub && RUST_LOG=debug cargo build 2>&1 | tail -5",
            "timeout 60 pytest -q tests/",
            "(make)",
            "npm run test:unit",
            "set -e; go test ./...",
        ] {
            assert!(is_check(command), "{command}");
        }
        for command in
            ["ls", "cargo --version", "echo cargo test", "makeup", "git commit -m 'cargo test'", "jest --help", ""]
        {
            assert!(!is_check(command), "{command}");
        }
    }

    #[test]
    fn last_run_counts_and_remembers_an_earlier_failure() {
        check(
            &[
                run("cargo test", Ending::Failed(Some(101)), ""),
                run("cargo clippy", Ending::Succeeded, ""),
                run("cargo test", Ending::Succeeded, "test result: ok. 3 passed; 0 failed, 0 ignored"),
                run("make all 2>/dev/null", Ending::Failed(None), ""),
                run("npm test", Ending::Unknown, ""),
            ],
            &["`cargo clippy`: passed", "`cargo test`: passed, after failing first", "`make all`: failed"],
        );
        check(&[run("pytest", Ending::Failed(Some(1)), "")], &["`pytest`: failed (exit code 1)"]);
    }

    #[test]
    fn every_failure_word_is_seen_by_the_quick_look() {
        for word in FAILURE_WORDS {
            assert!(FAILURE_STEMS.iter().any(|stem| word.contains(stem)), "{word}");
        }
    }

    #[test]
    fn pipe_that_hides_a_failure_does_not_pass() {
        check(
            &[run("cargo test | tail", Ending::Succeeded, "test result: FAILED. 1 passed")],
            &["`cargo test`: failed"],
        );
        check(&[run("pytest | tail", Ending::Succeeded, "2 failed, 3 passed")], &["`pytest`: failed"]);
        check(&[run("pytest | tail", Ending::Succeeded, "0 failed, 3 passed")], &["`pytest`: passed"]);
    }
}
