//! How good a ranking and its decisions are, against relevance judgements.
//!
//! Relevant means grade 2 or more. Over answerable queries: MRR@10 (reciprocal place of the first relevant record
//! within 10), P@1 and P@3 (share of relevant records among so many places), nDCG@10 (gain = grade, discount
//! `log2(place + 1)`, ideal over all judged records), R@10 (share of the relevant records within 10). Of decisions:
//! false injection is the share of no-answer queries that get anything; coverage the share of answerable queries
//! that do; precision the share, of all queries of both kinds that get something, whose first record is relevant;
//! item precision the same share over all injected records.
//!
//! Pure arithmetic over ids: nothing here ranks, reads files or prints.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Grade from which on a record is relevant.
pub const RELEVANT: u32 = 2;

/// Judged grades by query and record; what is not judged counts 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgements {
    grades: HashMap<String, HashMap<String, u32>>,
}

impl Judgements {
    /// Reads TREC lines `qid 0 docid grade`. Lines of another shape are skipped.
    pub fn parse(text: &str) -> Judgements {
        let mut grades: HashMap<String, HashMap<String, u32>> = HashMap::new();
        for line in text.lines() {
            let mut columns = line.split_whitespace();
            let row = (columns.next(), columns.next(), columns.next(), columns.next().and_then(|g| g.parse().ok()));
            if let (Some(qid), Some(_), Some(doc_id), Some(grade)) = row {
                grades.entry(qid.to_owned()).or_default().insert(doc_id.to_owned(), grade);
            }
        }
        Judgements { grades }
    }

    /// The grade of a record for a query.
    pub fn grade(&self, qid: &str, doc_id: &str) -> u32 {
        self.grades.get(qid).and_then(|judged| judged.get(doc_id)).copied().unwrap_or(0)
    }

    fn judged(&self, qid: &str) -> Vec<u32> {
        self.grades.get(qid).map(|judged| judged.values().copied().collect()).unwrap_or_default()
    }
}

/// What was ranked and injected for one query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer<'a> {
    /// The query.
    pub qid: &'a str,
    /// Its form; rows of the table.
    pub form: &'a str,
    /// `answerable`, `noanswer` or `noanswer_weak`.
    pub kind: &'a str,
    /// Ranked ids, best first.
    pub ranked: &'a [String],
    /// Injected ids, best first.
    pub injected: &'a [String],
}

/// Sums over some queries; every measure is a ratio of two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Answerable queries.
    pub answerable: u32,
    /// Queries of kind `noanswer`.
    pub noanswer: u32,
    reciprocal: f64,
    first: f64,
    first_three: f64,
    gain: f64,
    recall: f64,
    covered: u32,
    false_injections: u32,
    first_hits: u32,
    items: u32,
    item_hits: u32,
}

impl Tally {
    /// Mean reciprocal rank within 10.
    pub fn mrr10(&self) -> f64 {
        ratio(self.reciprocal, self.answerable)
    }

    /// Precision at 1.
    pub fn p1(&self) -> f64 {
        ratio(self.first, self.answerable)
    }

    /// Precision at 3.
    pub fn p3(&self) -> f64 {
        ratio(self.first_three, self.answerable)
    }

    /// Normalised discounted cumulative gain within 10.
    pub fn ndcg10(&self) -> f64 {
        ratio(self.gain, self.answerable)
    }

    /// Recall within 10.
    pub fn r10(&self) -> f64 {
        ratio(self.recall, self.answerable)
    }

    /// Share of no-answer queries that got an injection.
    pub fn false_injection(&self) -> f64 {
        ratio(f64::from(self.false_injections), self.noanswer)
    }

    /// Share of answerable queries that got an injection.
    pub fn coverage(&self) -> f64 {
        ratio(f64::from(self.covered), self.answerable)
    }

    /// Share of queries with an injection whose first record is relevant.
    pub fn precision(&self) -> f64 {
        ratio(f64::from(self.first_hits), self.covered + self.false_injections)
    }

    /// Share of injected records that are relevant.
    pub fn item_precision(&self) -> f64 {
        ratio(f64::from(self.item_hits), self.items)
    }

    fn add(&mut self, answer: &Answer<'_>, judgements: &Judgements) {
        let grade = |doc_id: &String| judgements.grade(answer.qid, doc_id);
        let hits = answer.injected.iter().filter(|id| grade(id) >= RELEVANT).count();
        match answer.kind {
            "answerable" => self.add_ranking(answer, judgements),
            "noanswer" => self.noanswer += 1,
            _ => return,
        }
        if answer.injected.is_empty() {
            return;
        }
        self.covered += u32::from(answer.kind == "answerable");
        self.false_injections += u32::from(answer.kind == "noanswer");
        self.first_hits += u32::from(answer.injected.first().is_some_and(|id| grade(id) >= RELEVANT));
        self.items += answer.injected.len() as u32;
        self.item_hits += hits as u32;
    }

    fn add_ranking(&mut self, answer: &Answer<'_>, judgements: &Judgements) {
        self.answerable += 1;
        let grades: Vec<u32> = answer.ranked.iter().take(10).map(|id| judgements.grade(answer.qid, id)).collect();
        let hits = |places: usize| grades.iter().take(places).filter(|grade| **grade >= RELEVANT).count() as f64;
        if let Some(at) = grades.iter().position(|grade| *grade >= RELEVANT) {
            self.reciprocal += 1.0 / (at + 1) as f64;
        }
        self.first += hits(1);
        self.first_three += hits(3) / 3.0;
        let mut ideal = judgements.judged(answer.qid);
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        let relevant = ideal.iter().filter(|grade| **grade >= RELEVANT).count();
        self.recall += hits(10) / (relevant.max(1)) as f64;
        let best = discounted(&ideal);
        self.gain += if best > 0.0 { discounted(&grades) / best } else { 0.0 };
    }
}

/// Sums up all answers: one tally a form in alphabetical order, and one over everything under `all`.
pub fn tally<'a>(answers: impl IntoIterator<Item = Answer<'a>>, judgements: &Judgements) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for answer in answers {
        for row in [answer.form, "all"] {
            tallies.entry(row.to_owned()).or_default().add(&answer, judgements);
        }
    }
    tallies
}

/// The tallies as a Markdown table, a row each; a measure without a query to it is a dash.
pub fn table(tallies: &BTreeMap<String, Tally>) -> String {
    let names = [
        "form",
        "answerable",
        "no answer",
        "MRR@10",
        "P@1",
        "P@3",
        "nDCG@10",
        "R@10",
        "false injection",
        "coverage",
        "precision",
        "item precision",
    ];
    let mut text = format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (form, tally) in tallies {
        let shown = |value: f64, queries: u32| if queries == 0 { "–".to_owned() } else { format!("{value:.3}") };
        let injections = tally.covered + tally.false_injections;
        let cells = [
            form.clone(),
            tally.answerable.to_string(),
            tally.noanswer.to_string(),
            shown(tally.mrr10(), tally.answerable),
            shown(tally.p1(), tally.answerable),
            shown(tally.p3(), tally.answerable),
            shown(tally.ndcg10(), tally.answerable),
            shown(tally.r10(), tally.answerable),
            shown(tally.false_injection(), tally.noanswer),
            shown(tally.coverage(), tally.answerable),
            shown(tally.precision(), injections),
            shown(tally.item_precision(), tally.items),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// One way of answering, over all queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Segments that it looks into, where that means anything.
    pub top_n: Option<usize>,
    /// Its sums.
    pub tally: Tally,
    /// Injected bytes a query, on the mean.
    pub bytes: f64,
    /// Median wall time of choosing segments.
    pub route_time: Duration,
    /// Median wall time of a query.
    pub time: Duration,
}

/// Several ways of answering as a Markdown table, a row each.
pub fn comparison(rows: &[Compared]) -> String {
    let names = [
        "strategy",
        "N",
        "MRR@10",
        "P@1",
        "nDCG@10",
        "R@10",
        "false injection",
        "coverage",
        "precision",
        "bytes",
        "route µs",
        "query µs",
    ];
    let mut text = format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in rows {
        let tally = &row.tally;
        let shares =
            [tally.mrr10(), tally.p1(), tally.ndcg10(), tally.r10(), tally.false_injection(), tally.coverage()];
        let shares: Vec<String> =
            shares.into_iter().chain([tally.precision()]).map(|share| format!("{share:.3}")).collect();
        let top_n = row.top_n.map_or_else(|| "–".to_owned(), |top_n| top_n.to_string());
        text.push_str(&format!(
            "| {} | {top_n} | {} | {:.0} | {} | {} |\n",
            row.name,
            shares.join(" | "),
            row.bytes,
            row.route_time.as_micros(),
            row.time.as_micros(),
        ));
    }
    text
}

/// The middle one of the times, the upper of two; zero of none.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn discounted(grades: &[u32]) -> f64 {
    let discount = |place: usize| ((place + 2) as f64).log2();
    grades.iter().take(10).enumerate().map(|(place, grade)| f64::from(*grade) / discount(place)).sum()
}

fn ratio(sum: f64, count: u32) -> f64 {
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn measures_match_values_worked_out_by_hand() {
        let judgements = Judgements::parse("q1 0 a 3\nq1 0 b 1\nq1 0 c 2\nnot a row\n");
        let (ranked, injected) = (ids(&["b", "x", "a", "y"]), ids(&["b", "a"]));
        let answer = Answer { qid: "q1", form: "prompt", kind: "answerable", ranked: &ranked, injected: &injected };
        let tally = *tally([answer], &judgements).get("prompt").unwrap_or(&Tally::default());
        // DCG = 1/1 + 3/2; ideal = 3/1 + 2/log2(3) + 1/2.
        let ndcg = 2.5 / (3.5 + 2.0 / 3.0_f64.log2());
        let expected = [1.0 / 3.0, 0.0, 1.0 / 3.0, ndcg, 0.5, 1.0, 0.0, 0.5];
        let found = [
            tally.mrr10(),
            tally.p1(),
            tally.p3(),
            tally.ndcg10(),
            tally.r10(),
            tally.coverage(),
            tally.precision(),
            tally.item_precision(),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        }
    }

    #[test]
    fn injection_without_an_answer_is_false_and_lowers_precision() {
        let judgements = Judgements::parse("q1 0 a 3");
        let some = ids(&["a"]);
        let answer = |qid, kind| Answer { qid, form: "prompt", kind, ranked: &some, injected: &some };
        let answers = [answer("q1", "answerable"), answer("q2", "noanswer"), answer("q3", "noanswer_weak")];
        let tallies = tally(answers, &judgements);
        let all = tallies.get("all").copied().unwrap_or_default();
        assert_eq!((all.answerable, all.noanswer), (1, 1));
        assert_eq!((all.false_injection(), all.coverage(), all.precision()), (1.0, 1.0, 0.5));
        assert!(table(&tallies).lines().count() == 4, "{}", table(&tallies));
    }
}
