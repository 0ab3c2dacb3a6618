//! The turns of phrase that `cue` reads, in several languages, and the search for them.
//!
//! A phrase has one sense. Strong senses speak for themselves; weak ones need a second sense beside them, since the
//! same words also describe what a program does. Guarantee: matched without regard to ASCII case and only as whole
//! words where the script has blanks; one pass, no allocation. Deliberately not here: what senses add up to.

/// What a phrase says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Sense {
    /// States a choice.
    Decides,
    /// Sets one thing against another; a choice only beside [`Sense::Chooses`] or [`Sense::Reasons`].
    Compares,
    /// A verb of somebody who builds.
    Chooses,
    /// The author of the message acts.
    Acts,
    /// The author tried.
    Tries,
    /// Turns a sentence round.
    Turns,
    /// Gives a reason.
    Reasons,
    /// States that a try came to nothing.
    Fails,
    /// States a fault; a failed try only beside [`Sense::Attempts`].
    Falters,
    /// Somebody tried.
    Attempts,
    /// States open work.
    Open,
    /// Says that something is not so; open work only without [`Sense::Describes`].
    Lacks,
    /// Speaks of a case or of an output, not of the work.
    Describes,
    /// States a passed or failed check.
    Checks,
    /// Makes a check a wish.
    Wishes,
    /// Takes a failure or an open point back.
    Denies,
}

/// A set of senses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Senses(u16);

impl Senses {
    /// Whether the set holds `sense`.
    pub fn has(self, sense: Sense) -> bool {
        self.0 & (1 << sense as u16) != 0
    }

    fn add(&mut self, sense: Sense) {
        self.0 |= 1 << sense as u16;
    }
}

use Sense::{
    Acts, Attempts, Checks, Chooses, Compares, Decides, Denies, Describes, Fails, Falters, Lacks, Open, Reasons, Tries,
    Turns, Wishes,
};

/// Phrases by sense, in lower case.
#[rustfmt::skip]
const PHRASES: &[(Sense, &[&str])] = &[
    (Decides, &[
        "decided not to", "我选择", "going with", "選択しました", "を選びました", "选择保留",
        "选择使用", "ことにしました", "i decided", "we decided", "decided to", "decided on",
        "decided against", "decided that", "the decision is", "the decision was", "design decision",
        "decision to", "i chose", "we chose", "chose to", "was chosen", "chosen over", "chosen because",
        "chosen so", "went with", "went for", "opted for", "opted to", "settled on", "in favor of",
        "in favour of", "trade-off is", "tradeoff is", "deliberately", "on purpose", "by design",
        "intentionally", "we agreed", "i switched to", "we switched to", "so i switched", "preferred over",
        "i picked", "we picked", "sticking with", "stuck with", "kept as is", "left as is", "we will use",
        "we'll use", "we are going with", "i kept", "we kept", "决定", "決定し", "決めました",
        "にしました", "采用", "採用", "改用", "选择了", "结论是", "결정했", "하기로",
        "haben uns entschieden", "habe mich entschieden", "entschieden", "bewusst", "absichtlich",
        "wir bleiben bei", "j'ai choisi", "décidé", "decidí", "decidimos", "решил", "решили",
    ]),
    (Compares, &[
        "instead of", "rather than", "而不是", "ではなく", "の代わりに", "대신", "statt", "anstelle von",
        "stattdessen", "au lieu de", "plutôt que", "en lugar de", "em vez de", "вместо", "switched to",
        "switched from",
    ]),
    (Chooses, &[
        "use", "used", "uses", "using", "keep", "kept", "keeps", "store", "stored", "stores", "pick", "picked",
        "prefer", "preferred", "moved", "implemented", "built", "went", "wrote", "made", "put", "taken",
        "chose", "placed", "introduced", "modeled", "modelled", "用", "使用", "保存", "使って", "使い",
        "使用し", "nutzt", "nutzen", "verwendet", "verwenden", "speichern",
    ]),
    (Reasons, &[
        "because", "so that", "since", "due to", "因为", "以便", "ため", "ので", "weil", "damit", "parce que",
        "porque",
    ]),
    (Acts, &[
        "i", "we", "i've", "we've", "ich", "wir",
    ]),
    (Tries, &[
        "i tried", "we tried", "i first tried", "i attempted", "we attempted", "i had tried", "my first",
        "i first",
    ]),
    (Turns, &[
        "but", "however", "neither", "nor", "though", "only", "aber", "但", "しかし",
    ]),
    (Fails, &[
        "但是太慢", "放弃了", "gave no", "no speed-up", "had no effect", "has no effect on the",
        "hid the problem", "hides the problem", "didn't pan out", "did not pan out", "first fix was wrong",
        "was a wrong turn", "did nothing for", "不起作用", "approach failed", "attempt failed", "attempts failed",
        "attempt at", "dead end", "gave up", "backfired", "i reverted", "we reverted", "so i reverted",
        "reverted the", "reverted that", "reverted it", "reverted my", "rolled it back", "rolled that back",
        "i rolled back", "rolled back the", "had to back out", "backed out", "ruled out", "abandoned",
        "made it worse", "made things worse", "made no difference", "to no avail", "didn't help",
        "did not help", "行不通", "尝试失败", "没有效果", "回退了", "うまくいきません",
        "うまくいかな", "失敗したため", "効果がありません", "元に戻しました", "실패했",
        "hat nicht funktioniert", "nicht funktioniert", "nichts gebracht", "rückgängig gemacht",
        "zurückgerollt", "n'a pas fonctionné", "échoué", "no funcionó", "не сработал",
    ]),
    (Falters, &[
        "didn't work", "did not work", "doesn't work", "does not work", "failed because", "failed with",
        "failed to", "failed on", "failed", "fails", "not possible", "not supported", "turned out", "turns out",
        "broke", "breaks", "deadlocked", "deadlocks", "hung", "timed out", "too slow", "slower", "crashed",
        "made no", "couldn't", "could not", "raced", "lost", "overflowed", "still", "rejected", "refused", "失败",
        "失敗", "无法", "超时", "タイムアウト", "fehlgeschlagen", "scheiterte", "zu langsam", "blocked the",
        "unreliable", "flaky", "ran out",
    ]),
    (Attempts, &[
        "the approach", "this approach", "that approach", "一开始", "i tried", "we tried", "first tried",
        "tried to", "tried using", "tried a", "tried the", "tried", "trying", "my first", "first attempt",
        "first version", "first try", "initial attempt", "initially", "at first", "attempt", "attempts",
        "attempted", "an earlier version", "the naive", "workaround", "the obvious", "试过", "尝试", "最初",
        "試し", "試みました", "versuch", "zuerst", "versucht", "probiert", "intenté", "j'ai essayé",
    ]),
    (Open, &[
        "is blocked until", "are blocked until", "still red", "skipped for now", "disabled for now",
        "please check", "please review", "接下来需要", "未実施", "未着手", "fehlt noch die",
        "dokumentation fehlt", "a later pr", "in a separate pr", "in a separate change", "ported later",
        "fixed later", "added later", "done later", "remains a concern", "remains a problem", "remains a risk",
        "remains an open", "needs an update", "need an update", "needs updating", "need updating", "剩下的问题",
        "剩余", "遗留", "todo:", "to do:", "remaining work", "remaining issue", "remaining issues",
        "remaining step", "remaining steps", "remaining task", "remaining tasks", "still remaining",
        "remains to be", "remains open", "remain open", "remains unsolved", "remains unfixed", "remains broken",
        "remains flaky", "issue remains", "issues remain", "question remains", "still need", "still needs",
        "still have to", "still has to", "still to do", "still fails", "still fail", "still failing",
        "still flaky", "still broken", "still missing", "still open", "still unclear", "still times out",
        "still crashes", "still leaks", "left to do", "is left to", "are left to", "left for later",
        "left for a later", "left out for now", "for a later change", "next step is", "next step would",
        "next steps are", "as a follow-up", "in a follow-up", "needs a follow-up", "follow-up work",
        "follow-up change", "follow up on", "is unresolved", "are unresolved", "remains unresolved",
        "still unresolved", "open question", "open questions", "open point", "blocked on", "still blocked",
        "i'm blocked", "i am blocked", "we are blocked", "work is blocked", "i couldn't", "i could not",
        "we couldn't", "we could not", "i was unable", "i wasn't able", "i was not able", "i haven't",
        "i have not", "we haven't", "we have not", "i did not run", "i didn't run", "i did not test",
        "i didn't test", "i did not touch", "i didn't touch", "not been tested", "is untested", "are untested",
        "remains untested", "you'll need to", "you will need to", "you'll have to", "known issue:",
        "a known issue", "known limitation", "it is unclear", "it's unclear", "unclear whether", "unclear why",
        "unclear if", "unclear how", "not sure why", "not sure whether", "root cause is unknown",
        "cause is unknown", "deferred", "postponed", "out of scope for", "pending review", "waiting for your",
        "waiting on", "needs your", "need your", "needs a decision", "待办", "还需要", "仍需", "待确认",
        "未解決", "残って", "残りは", "未対応", "今後の課題", "要確認", "아직", "남아 있",
        "noch offen", "steht noch aus", "fehlt noch", "muss noch", "müssen noch", "offen bleibt", "reste à",
        "il reste", "pendiente", "falta", "осталось", "пока не",
    ]),
    (Lacks, &[
        "needs to be", "need to be", "could not be run", "couldn't be run", "cannot be tested",
        "can't be tested", "can't be verified", "cannot be verified", "no tests cover", "no test covers",
        "there are no tests", "尚未", "还没", "まだ", "noch nicht getestet", "noch nicht umgesetzt",
        "ist noch nicht", "sind noch nicht", "not yet", "isn't yet", "aren't yet", "not implemented",
        "not covered", "not tested", "untested", "no tests for", "couldn't reproduce", "could not reproduce",
        "couldn't verify", "could not verify", "could not be verified", "couldn't be verified",
        "could not be reproduced", "could not be tested", "not been verified", "not wired up", "not handled",
        "does not handle", "doesn't handle",
    ]),
    (Describes, &[
        "that were", "that was", "who have", "that have", "which were", "needs to be a", "needs to be an",
        "needs to be at", "need to be a", "need to be at", "时会", "时将", "时显示", "場合は", "すると",
        "angezeigt", "when", "whenever", "if", "unless", "until", "while", "that are", "that is", "which are",
        "which is", "whose", "in case", "returns", "return", "raises", "throws", "reports", "report", "shows",
        "logs", "prints", "skips", "ignores", "message", "but not yet", "lists", "detects", "rejects", "warns",
        "means", "如果", "的时候", "場合", "wenn", "falls",
    ]),
    (Checks, &[
        "both succeed", "all succeed", "i checked the", "i checked that", "passes (", "pass (", "checks pass",
        "checks passed", "finished without errors", "ran without errors", "runs without errors",
        "completed without errors", "exits with 0", "are clean", "checking is clean", "no warnings",
        "zero warnings", "0 failures", "credo clean", "tests pass", "tests passed", "test passes",
        "tests passing", "tests are passing", "tests are green", "suite passes", "suite is green",
        "suite passed", "build succeeds", "build succeeded", "build passes", "build is green", "builds cleanly",
        "compiles cleanly", "compiles without", "clippy is clean", "clippy passes", "clippy reports no",
        "lint passes", "lint is clean", "linter is clean", "types check", "type check passes",
        "typecheck passes", "mypy passes", "mypy is clean", "tsc passes", "eslint passes", "ci is green",
        "ci passes", "all green", "passes locally", "pass locally", "0 failed", "no failures", "verified that",
        "verified by", "verified with", "verified manually", "verified the", "i verified", "i confirmed",
        "confirmed that", "confirmed by", "confirmed with", "tested manually", "tested with", "tested against",
        "tested on", "checked manually", "benchmark shows", "测试通过", "测试全部通过", "测试都通过",
        "构建成功", "编译通过", "验证了", "已验证", "テストは通", "テストが通",
        "テストはすべて", "テストはすべて成功", "確認しました", "確認済", "ビルドは成功",
        "tests laufen", "tests sind grün", "tests bestehen", "build läuft", "geprüft", "alle tests",
        "테스트 통과", "les tests passent", "pruebas pasan", "тесты проходят",
    ]),
    (Wishes, &[
        "which", "makes sure", "ensures", "ensure", "tests pass the", "tests pass control", "tests pass a",
        "before you", "before merging", "before the merge", "before deploying", "make sure", "once the",
        "once all", "until the", "until all", "if the", "if all", "so that", "please", "should", "whether",
        "would", "only when", "only if", "let me", "i'll", "ask", "wait", "not verified", "not been verified",
        "not confirmed",
    ]),
    (Denies, &[
        "nothing left", "nothing is left", "nothing remains", "no remaining", "no known issue",
        "no open question", "no open point", "no follow-up", "not a known", "no todo", "nothing to do",
        "already done", "もうありません", "残っていません", "没有遗留", "nichts mehr offen",
    ]),
];

const N_PHRASES: usize = {
    let mut n = 0;
    let mut group = 0;
    while group < PHRASES.len() {
        n += PHRASES[group].1.len();
        group += 1;
    }
    n
};

/// All phrases in one row, those of one first byte beside each other.
static ROW: [(&str, Sense); N_PHRASES] = {
    let mut row = [("", Sense::Denies); N_PHRASES];
    let (mut at, mut first) = (0, 0);
    while first < 256 {
        let mut group = 0;
        while group < PHRASES.len() {
            let (sense, phrases) = PHRASES[group];
            let mut number = 0;
            while number < phrases.len() {
                if phrases[number].as_bytes()[0] as usize == first {
                    row[at] = (phrases[number], sense);
                    at += 1;
                }
                number += 1;
            }
            group += 1;
        }
        first += 1;
    }
    row
};

/// Where the phrases of each first byte begin in [`ROW`]: a matcher that costs nothing to start.
static STARTS: [u16; 257] = {
    let mut starts = [0; 257];
    let mut first = 0;
    while first < 256 {
        let mut at = starts[first] as usize;
        while at < N_PHRASES && ROW[at].0.as_bytes()[0] as usize == first {
            at += 1;
        }
        starts[first + 1] = at as u16;
        first += 1;
    }
    starts
};

/// The senses of all phrases in `sentence`.
pub fn senses(sentence: &str) -> Senses {
    let bytes = sentence.as_bytes();
    let mut senses = Senses::default();
    let mut in_word = false;
    for (at, byte) in bytes.iter().enumerate() {
        let starts_word = !in_word;
        in_word = byte.is_ascii_alphanumeric();
        if in_word && !starts_word {
            continue;
        }
        let first = usize::from(byte.to_ascii_lowercase());
        let second = bytes.get(at + 1).map(u8::to_ascii_lowercase);
        let (Some(from), Some(to)) = (STARTS.get(first), STARTS.get(first + 1)) else { continue };
        for (phrase, sense) in ROW.get(usize::from(*from)..usize::from(*to)).unwrap_or_default() {
            // Most candidates differ in their second letter already.
            if phrase.len() > 1 && phrase.as_bytes().get(1).copied() != second {
                continue;
            }
            let found = bytes.get(at..at + phrase.len());
            if found.is_some_and(|found| found.eq_ignore_ascii_case(phrase.as_bytes())) && ends_word(bytes, at, phrase)
            {
                senses.add(*sense);
            }
        }
    }
    senses
}

/// A phrase that ends in a letter must not be the start of a longer word.
fn ends_word(bytes: &[u8], at: usize, phrase: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !(is_word(phrase.as_bytes().last()) && is_word(bytes.get(at + phrase.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words_in_any_case() {
        assert!(senses("We DECIDED TO wait").has(Sense::Decides));
        assert!(!senses("undecided tomorrow").has(Sense::Decides));
        assert!(!senses("reused userland").has(Sense::Chooses));
        assert!(senses("我们决定改用日志").has(Sense::Decides));
    }

    #[test]
    fn every_phrase_is_found_by_itself() {
        for (sense, phrases) in PHRASES {
            for phrase in *phrases {
                assert!(senses(phrase).has(*sense), "{phrase}");
                assert_eq!(phrase.to_ascii_lowercase(), *phrase);
            }
        }
    }
}
