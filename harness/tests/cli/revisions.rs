//! The hook of another revision, called by the replayer.

use std::path::Path;
use std::process::Command;

use hookbench::revision::{CACHE, Spec, build, remove};
use hookbench::target::Given;

use crate::bench::{ANY, Bench, LAST, word};

fn git(folder: &Path, line: &str) -> String {
    let identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(identity).args(line.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_older_hook_answers_beside_the_newer_and_the_work_tree_stays_clean() {
    let bench = Bench::of(ANY);
    let root = bench.path("").canonicalize().unwrap();
    git(&root, "init -q -b main");
    for text in ["old", "new"] {
        bench.write("hook.sh", &format!("cat >/dev/null\necho {text}\n"));
        git(&root, "add hook.sh scenarios");
        git(&root, &format!("commit -q -m {text}"));
    }
    let hooks = [format!("sh '{}/hook.sh'", root.display())];
    let given = Given { hooks: &hooks, settings: None, no_shell: false };
    let cache = root.join(CACHE);
    let before = git(&root, "status --porcelain --untracked-files=all");
    let built = build(&Spec { revision: "main~1", given, start: &root, cache: &cache, build: None }).unwrap();
    assert_eq!(git(&root, "status --porcelain --untracked-files=all"), before);
    assert_eq!(git(&root, "branch --show-current"), "main");
    assert_eq!(git(&root, "branch --list"), "* main");
    assert_eq!(git(&built.tree, "rev-parse HEAD"), built.commit);

    let answer = |hook: &str, out: &str| {
        bench.run(hook, &format!("--out {out}")).code(0);
        let events = bench.events(out);
        let step = events.iter().find(|event| event["event"] == "step-finished").unwrap();
        word(&step["data"]["delivered"]).to_owned()
    };
    assert_eq!(answer(&hooks[0], "now"), "new");
    assert_eq!(answer(&built.target.shown(), "then"), "old");
    assert!(!bench.path(LAST).exists());

    remove(&root, &cache, &built.commit).unwrap();
    assert_eq!(git(&root, "worktree list --porcelain").matches("worktree ").count(), 1);
}
