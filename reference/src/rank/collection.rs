//! A whole labelled collection in memory: one index a project, as the hook keeps one store a project.
//!
//! Answers queries the way a recall does (same query, scores, gate and packing) but for what a collection does not
//! have: a session that was shown things before, and a repository to compare revisions with. The same files give
//! the same answers, times aside. One loaded collection answers by any number of methods. Files and printing are not
//! here.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::corpus::{CorpusError, CorpusQuery, Records};
use crate::document::{Evidence, SourceDocument};
use crate::excerpt::excerpt;
use crate::pack::{Item, pack};
use crate::query::{Query, QueryContext};
use crate::rank::gate::Gate;
use crate::rank::memory::MemoryIndex;
use crate::rank::profiles::{MemoryProfiles, ProfilesBuilder};
use crate::rank::score::{Hit, rank};
use crate::rank::supersede::superseded;
use crate::rank::weights::Weights;
use crate::revision::{Head, RevisionStatus};
use crate::route::{Route, Routing, best_record, bm25_max};
use crate::store::postings::Postings;

/// Hits that routing by the best record looks at.
const ROUTED_HITS: usize = 200;
/// Hits that the gate looks at.
const GATED_HITS: usize = 20;

/// How a collection is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Scoring.
    pub weights: Weights,
    /// Decisions.
    pub gate: Gate,
    /// Which segments.
    pub routing: Routing,
    /// How many of them.
    pub top_n: usize,
    /// Ranked records a query.
    pub depth: usize,
}

/// A session that was looked into.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routed {
    /// The session's id, as the collection has it.
    pub segment: String,
    /// The strategy's score; comparable within one query only.
    pub score: f32,
    /// Terms that spoke for it, strongest first, or the id of its best record.
    pub reason: Vec<String>,
}

/// What a query got.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Sessions looked into, best first; empty without routing.
    pub routes: Vec<Routed>,
    /// Ids with scores, best first.
    pub ranked: Vec<(String, f32)>,
    /// Ids that would be injected, best first.
    pub injected: Vec<String>,
    /// UTF-8 bytes of the text that would be injected.
    pub bytes: usize,
    /// Wall time of choosing the sessions.
    pub route_time: Duration,
    /// Wall time of the whole query, from payload to packed text.
    pub time: Duration,
}

/// All projects of a collection.
pub struct Collection {
    projects: BTreeMap<String, Project>,
}

#[derive(Default)]
struct Project {
    index: MemoryIndex,
    profiles: Option<MemoryProfiles>,
    /// By document number, without evidence.
    documents: Vec<SourceDocument>,
    /// By segment number: the session's id.
    sessions: Vec<String>,
}

impl Collection {
    /// Reads all records. Profiles are made only when one of `methods` routes by them.
    pub fn read(records: Records, methods: &[Method]) -> Result<Collection, CorpusError> {
        let with_profiles = methods.iter().any(|method| matches!(method.routing, Routing::Profiles(_)));
        let mut projects: BTreeMap<String, (Project, ProfilesBuilder)> = BTreeMap::new();
        for document in records {
            let mut document = document?;
            let (project, profiles) = projects.entry(document.filter("project").to_owned()).or_default();
            let number = project.index.add(&document);
            if with_profiles {
                profiles.add(project.index.segment(number), &document);
            }
            if project.sessions.len() < project.index.segments() as usize {
                project.sessions.push(document.filter("session").to_owned());
            }
            document.evidence = Evidence::default();
            project.documents.push(document);
        }
        let finished = projects.into_iter().map(|(name, (project, profiles))| {
            let profiles = with_profiles.then(|| profiles.finish());
            (name, Project { profiles, ..project })
        });
        Ok(Collection { projects: finished.collect() })
    }

    /// Answers one query from its project; a query without a project asks the only one there is.
    pub fn answer(&self, asked: &CorpusQuery, method: &Method, config: &Config) -> Outcome {
        let only = self.projects.values().next().filter(|_| self.projects.len() == 1 && asked.project.is_empty());
        let Some(project) = self.projects.get(&asked.project).or(only) else { return Outcome::default() };
        let start = Instant::now();
        let root = asked.payload.get("cwd").and_then(|cwd| cwd.as_str()).unwrap_or("");
        let context = QueryContext { root, ..QueryContext::default() };
        let Some(query) = Query::from_value(&asked.payload, &context) else { return Outcome::default() };
        let routed = Instant::now();
        let routes = project.routes(&query, method);
        let route_time = routes.as_ref().map_or(Duration::ZERO, |_| routed.elapsed());
        let hits = project.hits(&query, method, routes.as_deref());
        let chosen = method.gate.select(&project.index, hits.get(..GATED_HITS.min(hits.len())).unwrap_or(&hits));
        let (injected, bytes) = project.packed(&chosen, &query, budget(asked, config), config);
        let named = |hit: &Hit| (project.index.doc_id(hit.document).to_owned(), hit.score);
        let ranked = hits.iter().take(method.depth).map(named).collect();
        let time = start.elapsed();
        let routes = routes.unwrap_or_default().into_iter().map(|route| project.named(route, &hits)).collect();
        Outcome { routes, ranked, injected, bytes, route_time, time }
    }
}

impl Project {
    /// The segments to look into, best first; `None` without routing.
    fn routes(&self, query: &Query, method: &Method) -> Option<Vec<Route>> {
        match (method.routing, &self.profiles) {
            (Routing::Profiles(strategy), Some(profiles)) => {
                let terms: Vec<String> = query.terms.iter().map(|term| term.text.clone()).collect();
                Some(strategy.route_within_cut(&terms, profiles, method.top_n))
            }
            (Routing::BestRecord, _) => {
                let hits = rank(&self.index, query, &method.weights, &|_| true, ROUTED_HITS).hits;
                Some(best_record::route(&hits, method.top_n))
            }
            (Routing::BestContent, _) => Some(bm25_max::route(query, &self.index, method.top_n)),
            (Routing::AllSegments, _) | (Routing::Profiles(_), None) => None,
        }
    }

    /// All scored records of the routed segments, however far down they stand among those of all segments.
    fn hits(&self, query: &Query, method: &Method, routes: Option<&[Route]>) -> Vec<Hit> {
        let allowed = |segment| routes.is_none_or(|routes| routes.iter().any(|route| route.segment == segment));
        rank(&self.index, query, &method.weights, &allowed, method.depth.max(GATED_HITS)).hits
    }

    fn named(&self, route: Route, hits: &[Hit]) -> Routed {
        let Route { segment, score, mut reason } = route;
        if reason.is_empty() {
            let best = hits.iter().find(|hit| hit.segment == segment);
            reason.extend(best.map(|hit| self.index.doc_id(hit.document).to_owned()));
        }
        Routed { segment: self.sessions.get(segment as usize).cloned().unwrap_or_default(), score, reason }
    }

    /// Ids and bytes of the text that the budget lets through.
    fn packed(&self, chosen: &[Hit], query: &Query, budget: usize, config: &Config) -> (Vec<String>, usize) {
        let terms: Vec<String> = query.terms.iter().map(|term| term.text.clone()).collect();
        let documents: Vec<&SourceDocument> =
            chosen.iter().filter_map(|hit| self.documents.get(hit.document as usize)).collect();
        let items: Vec<Item> = documents
            .iter()
            .zip(superseded(&documents))
            .filter(|(_, is_old)| !is_old)
            .map(|(document, _)| Item {
                document: (*document).clone(),
                status: RevisionStatus::Unknown,
                excerpt: excerpt(document, &terms, config.recall.excerpt_lines, config.recall.excerpt_bytes),
            })
            .collect();
        let packed = if items.is_empty() { None } else { pack(&items, &Head::default(), budget) };
        packed.map_or_else(Default::default, |packed| (packed.ids, packed.text.len()))
    }
}

fn budget(asked: &CorpusQuery, config: &Config) -> usize {
    match asked.payload.get("hook_event_name").and_then(|name| name.as_str()) {
        Some("PreToolUse") => config.budgets.pre_tool_use,
        Some("PostToolUse") => config.budgets.post_tool_use,
        Some("SubagentStart") => config.budgets.subagent_start,
        Some("UserPromptExpansion") => config.budgets.user_prompt_expansion,
        _ => config.budgets.user_prompt_submit,
    }
}
