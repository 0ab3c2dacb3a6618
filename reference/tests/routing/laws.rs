//! What holds for every strategy.

use hookmem::route::{Route, RoutingIndex, Strategy};
use proptest::prelude::*;
use proptest::strategy::Strategy as Generator;

use crate::profiles::{Profiles, profiles, query};
use crate::slow::has_near_ties;

const ALL: usize = usize::MAX;

fn strategies() -> impl Generator<Value = Strategy> {
    proptest::sample::select(Strategy::ALL.to_vec())
}

fn numbers(routes: &[Route]) -> Vec<u32> {
    routes.iter().map(|route| route.segment).collect()
}

#[test]
fn names_are_those_of_the_mission_and_lead_back() {
    let names: Vec<&str> = Strategy::ALL.iter().map(|strategy| strategy.name()).collect();
    let expected = [
        "sparse-overlap",
        "kl-divergence",
        "local-distinctiveness",
        "coverage-local-distinctiveness",
        "team-coverage-local-distinctiveness",
        "coverage-team-selection",
        "typed-evidence",
    ];
    assert_eq!(names, expected);
    assert!(Strategy::ALL.iter().all(|strategy| Strategy::parse(strategy.name()) == Some(*strategy)));
}

proptest! {
    #![proptest_config(crate::profiles::config())]

    #[test]
    fn numbering_segments_otherwise_changes_nothing(
        strategy in strategies(),
        (profiles, order) in profiles().prop_flat_map(|profiles| {
            let order: Vec<usize> = (0..profiles.0.len()).collect();
            (Just(profiles), Just(order).prop_shuffle())
        }),
        terms in query(),
    ) {
        let coverage = Strategy::CoverageLocalDistinctiveness.route(&terms, &profiles, ALL);
        let routes = strategy.route(&terms, &profiles, ALL);
        // Of equals the one with the smaller number goes first, and numbers are what changes.
        prop_assume!(!has_near_ties(coverage.iter().map(|route| f64::from(route.score))));
        prop_assume!(!has_near_ties(routes.iter().map(|route| f64::from(route.score))));
        let other = Profiles(order.iter().map(|place| profiles.0[*place].clone()).collect());
        let mut found = strategy.route(&terms, &other, ALL);
        for route in &mut found {
            route.segment = order[route.segment as usize] as u32;
        }
        prop_assert_eq!(found, routes);
    }

    #[test]
    fn unknown_and_repeated_terms_change_nothing(
        strategy in strategies(),
        profiles in profiles(),
        terms in query(),
        place in any::<proptest::sample::Index>(),
    ) {
        let mut more = terms.clone();
        more.insert(place.index(terms.len() + 1), "nobody-wrote-this".to_owned());
        more.extend(terms.iter().rev().cloned());
        prop_assert_eq!(strategy.route(&more, &profiles, ALL), strategy.route(&terms, &profiles, ALL));
    }

    #[test]
    fn queries_of_nothing_or_of_unknown_terms_route_nowhere(strategy in strategies(), profiles in profiles()) {
        prop_assert_eq!(strategy.route(&[], &profiles, ALL), []);
        prop_assert_eq!(strategy.route(&["nobody-wrote-this".to_owned()], &profiles, ALL), []);
    }

    #[test]
    fn scores_are_finite_segments_come_once_and_each_has_a_signal(
        strategy in strategies(),
        profiles in profiles(),
        terms in query(),
    ) {
        let routes = strategy.route(&terms, &profiles, ALL);
        let mut seen = std::collections::HashSet::new();
        for route in &routes {
            prop_assert!(route.score.is_finite() && seen.insert(route.segment) && route.segment < profiles.segments());
            let segment = &profiles.0[route.segment as usize];
            let has_signal = terms.iter().any(|t| segment.weights.contains_key(t) || segment.buckets.contains_key(t));
            prop_assert!(has_signal);
            prop_assert!(strategy == Strategy::KlDivergence || route.score > 0.0);
            prop_assert!(route.reason.iter().all(|term| segment.weights.contains_key(term) && terms.contains(term)));
        }
        let cut = strategy.route_within_cut(&terms, &profiles, ALL);
        prop_assert_eq!(cut.first(), routes.first());
    }

    #[test]
    fn fewer_routes_are_the_first_of_more(
        strategy in strategies(),
        profiles in profiles(),
        terms in query(),
        limit in 0_usize..10,
    ) {
        let mut all = numbers(&strategy.route(&terms, &profiles, ALL));
        all.truncate(limit);
        prop_assert_eq!(numbers(&strategy.route(&terms, &profiles, limit)), all);
    }
}
