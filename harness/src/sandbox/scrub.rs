//! Scrubbing: what differs from run to run becomes a placeholder again, so that goldens can be compared.
//!
//! Longer texts are replaced before shorter ones, so `${PROJECT}` wins over `${HOME}`. Only delivered text is
//! scrubbed; sizes are measured before.

use super::layout::Layout;
use crate::scenario::{Pattern, Scenario};

/// Replacements of one sandbox.
#[derive(Debug)]
pub(super) struct Scrubber {
    texts: Vec<(String, String)>,
    patterns: Vec<(Pattern, String)>,
}

impl Scrubber {
    pub(super) fn new(scenario: &Scenario, layout: &Layout) -> Scrubber {
        let places = [
            (&layout.project, "${PROJECT}"),
            (&layout.home, "${HOME}"),
            (&layout.tmp, "${TMP}"),
            (&layout.scenario_dir, "${SCENARIO}"),
            (&layout.corpora, "${CORPORA}"),
        ];
        let places = places.map(|(place, name)| (place.to_string_lossy().into_owned(), name.to_owned()));
        let mut texts: Vec<(String, String)> = places.into_iter().collect();
        texts.push((layout.root.to_string_lossy().into_owned(), "${ROOT}".to_owned()));
        texts.push((layout.slug.clone(), "${PROJECT_SLUG}".to_owned()));
        let sessions = scenario.sessions();
        for name in &sessions {
            let placeholder =
                if sessions.len() == 1 { "${SESSION}".to_owned() } else { format!("${{SESSION:{name}}}") };
            texts.push((layout.session_id(name), placeholder));
        }
        texts.retain(|(text, _)| text.len() > 1);
        texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Scrubber { texts, patterns: scenario.scrub.clone() }
    }

    pub(super) fn scrub(&self, text: &str) -> String {
        let places = self.texts.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        self.patterns.iter().fold(places, |text, (pattern, to)| pattern.regex.replace_all(&text, to))
    }
}
