//! Small examples with every number worked out by hand.

use hookmem::route::bucket::Buckets;
use hookmem::route::typed_evidence::Shared;
use hookmem::route::{Route, Strategy};

use crate::profiles::{Profiles, Segment};

/// Three segments; shares are terms, entities, topics, window.
///
/// df(cache) = 1 and df(flaky) = 2 of 3, so idf(cache) = ln(4/2) + 1 = 1.693147 and idf(flaky) = ln(4/3) + 1 =
/// 1.287682; together 2.980829.
fn example() -> Profiles {
    Profiles(vec![
        Segment::of(&[
            ("cache", [0.5, 0.5, 1.0, 0.6]),
            ("flaky", [0.5, 0.0, 0.0, 0.4]),
            ("build", [0.0, 0.5, 0.0, 0.0]),
        ]),
        Segment::of(&[("flaky", [1.0, 0.0, 1.0, 0.0])]),
        Segment::of(&[("other", [1.0, 1.0, 1.0, 1.0])]),
    ])
}

/// Two segments on `a`, one on `b`: idf(a) = ln(4/3) + 1 = 1.287682, idf(b) = 1.693147, together 2.980829.
fn team() -> Profiles {
    Profiles(vec![
        Segment::of(&[("a", [0.6, 0.0, 0.0, 0.0])]),
        Segment::of(&[("a", [0.5, 0.0, 0.0, 0.0])]),
        Segment::of(&[("b", [0.01, 0.0, 0.0, 0.0])]),
    ])
}

fn routes(strategy: Strategy, profiles: &Profiles, query: &str) -> Vec<Route> {
    let terms: Vec<String> = query.split(' ').map(str::to_owned).collect();
    strategy.route(&terms, profiles, 10)
}

#[track_caller]
fn assert_routes(found: &[Route], expected: &[(u32, f32)]) {
    let numbers: Vec<u32> = found.iter().map(|route| route.segment).collect();
    assert_eq!(numbers, expected.iter().map(|(segment, _)| *segment).collect::<Vec<_>>(), "{found:?}");
    for (route, (_, score)) in found.iter().zip(expected) {
        assert!((route.score - score).abs() < 2e-5 * score.abs().max(1.0), "{} is not {score}", route.score);
    }
}

#[test]
fn sparse_overlap() {
    // 0: cache 0.5 + 1.3 * 0.5 + 0.7 * 1.0 = 1.85, flaky 0.5. 1: 1.0 + 0.7 * 1.0.
    assert_routes(&routes(Strategy::SparseOverlap, &example(), "cache flaky"), &[(0, 2.35), (1, 1.7)]);
}

#[test]
fn kl_divergence() {
    // 0: all together 1 + 1.3 + 0.7 + 0.5 = 3.5; cache (0.5 + 0.65 + 0.7 + 0.3) / 3.5 = 0.614286, flaky (0.5 + 0.2) /
    // 3.5 = 0.2: -(0.5 ln(0.5 / 0.614286) + 0.5 ln(0.5 / 0.2)) = -(-0.102926 + 0.458145).
    // 1: all together 1.7; flaky 1.7 / 1.7 = 1, cache 1e-6: -(0.5 ln(0.5 / 1e-6) + 0.5 ln(0.5)), which is
    // -(6.561182 - 0.346574).
    // 2 shares no term: no route, though its score would be finite.
    assert_routes(&routes(Strategy::KlDivergence, &example(), "cache flaky"), &[(0, -0.355219), (1, -6.214608)]);
}

#[test]
fn local_distinctiveness() {
    // 0: lw(cache) = 0.5 + 1.8 * 0.5 + 1.2 * 1.0 + 1.5 * 0.6 = 3.5, times 1.693147 = 5.926015;
    //    lw(flaky) = 0.5 + 1.5 * 0.4 = 1.1, times 1.287682 = 1.416450. 1: (1.0 + 1.2) * 1.287682.
    let found = routes(Strategy::LocalDistinctiveness, &example(), "flaky cache");
    assert_routes(&found, &[(0, 7.342465), (1, 2.8329)]);
    assert_eq!(
        (&found[0].reason[..], &found[1].reason[..]),
        (&["cache", "flaky"].map(str::to_owned)[..], &["flaky".to_owned()][..])
    );
}

#[test]
fn coverage_local_distinctiveness() {
    // 0: em(cache) = 1.95, em(flaky) = 1.35: W = 5.926015 * 1.95 + 1.416450 * 1.35 = 13.467937; R = 1, n = 2:
    //    13.467937 * 2 + 2 + 1 + 0.75 = 30.685874.
    // 1: em = 1.15: W = 3.257835; R = 1.287682 / 2.980829 = 0.431988, n = 1: 3.257835 * 1.431988 + 0.863976 + 0.5.
    let found = routes(Strategy::CoverageLocalDistinctiveness, &example(), "cache flaky");
    assert_routes(&found, &[(0, 30.685874), (1, 6.029157)]);
}

#[test]
fn team_coverage_local_distinctiveness() {
    // C by the formula above: 0: W = 0.772609, C = 2.470343. 1: W = 0.643841, C = 2.285948. 2: W = 0.016931,
    // R = 0.568012, C = 1.662573. So coverage alone says 0, 1, 2.
    let coverage = routes(Strategy::CoverageLocalDistinctiveness, &team(), "a b");
    assert_routes(&coverage, &[(0, 2.470343), (1, 2.285948), (2, 1.662573)]);
    // First 0: G = 0.772609 * 1.431988 + 2.5 * 0.431988 + 0.5 = 2.686337, plus 2 C.
    // Then 1 brings nothing new, 2 C = 4.571896, and 2: G = 0.016931 * 1.568012 + 2.5 * 0.568012 + 0.5 = 1.946579,
    // plus 2 C.
    let found = routes(Strategy::TeamCoverageLocalDistinctiveness, &team(), "a b");
    assert_routes(&found, &[(0, 7.627023), (2, 5.271725), (1, 4.571896)]);
}

#[test]
fn coverage_team_selection() {
    let mut profiles = team();
    profiles.0[1].connections = [1, 2, 3, 4, 5].into();
    profiles.0[2].connections = [1].into();
    profiles.0[2].knows_time = true;
    // First, all with one new pair (term): gain = 1.35 W + 0.30 idf.
    //   0: gain = 1.043022 + 0.386305 = 1.429327: 1.429327 * 1.431988 + 2.8 * 0.431988 + 0.5 + 0.45 = 4.206345,
    //      plus 1.6 * 2.470343 = 8.158894.
    //   1: gain = 0.869185 + 0.386305 = 1.255490: 1.797847 + 1.209566 + 0.95, plus 0.2 * 4 connections of 5, plus
    //      1.6 * 2.285948 = 8.414930: taken.
    //   2: gain = 0.022857 + 0.507944 = 0.530801: 0.832302 + 1.590434 + 0.95 + 0.2 + 0.9, plus 1.6 * 1.662573, which
    //      is 7.132853.
    // Then 0 has no new pair: 1.6 C = 3.952549. 2 has lost its connection: 6.932853.
    let found = routes(Strategy::CoverageTeamSelection, &profiles, "a b");
    assert_routes(&found, &[(1, 8.41493), (2, 6.932853), (0, 3.952549)]);
}

#[test]
fn a_term_that_a_member_covers_counts_little_and_a_new_kind_of_evidence_counts() {
    // idf(a) = ln(3/3) + 1 = 1. C: 0: 2 * 0.6 + 2 + 1 = 4.2. 1: em = 1.45, W = 1.8 * 0.2 * 1.45 = 0.522, C = 4.044.
    let profiles =
        Profiles(vec![Segment::of(&[("a", [0.6, 0.0, 0.0, 0.0])]), Segment::of(&[("a", [0.0, 0.2, 0.0, 0.0])])]);
    // First 0: gain = 0.81 + 0.3 = 1.11: 1.11 * 2 + 2.8 + 1 + 0.45 = 6.47, plus 1.6 * 4.2 = 13.19.
    //       1: gain = 0.7047 + 0.75 = 1.4547: 2.9094 + 4.25 = 7.1594, plus 6.4704 = 13.6298: taken.
    // Then  0: gain = 0.18 * 0.6 + 0.3 = 0.408, nothing newly covered: 0.408 + 0.45, plus 6.72.
    let found = routes(Strategy::CoverageTeamSelection, &profiles, "a");
    assert_routes(&found, &[(1, 13.6298), (0, 7.578)]);
}

#[test]
fn typed_evidence() {
    let both = Buckets::SUBJECT.or(Buckets::OBJECT);
    let mut profiles = example();
    profiles.0[0] = profiles.0[0].clone().with_buckets(&[("cache", both), ("fix", Buckets::ACTION)]);
    profiles.0[2] = profiles.0[2].clone().with_buckets(&[("fix", Buckets::ACTION), ("2024", Buckets::TIME)]);
    // `fix` and `2024` weigh nothing in any profile, so Q is cache alone.
    // 0: W = 5.926015 * 1.95 = 11.555729, C = 2 W + 2 + 1 = 26.111458; shared are a subject, an object and an action:
    //    TE = 0.75 + 0.55 + 0.7 + (0.75 + 0.55 + 0.9) + 0.35 * 2 = 4.9; times 1.15 = 5.635.
    // 2: C = 0; a time and an action: TE = 1.0 + 0.7 + 0.8 + 0.35 = 2.85; times 1.15 = 3.2775.
    assert_routes(&routes(Strategy::TypedEvidence, &profiles, "fix cache 2024"), &[(0, 31.746458), (2, 3.2775)]);
    // One shared set is no typed evidence.
    assert_routes(&routes(Strategy::TypedEvidence, &profiles, "fix"), &[]);
}

#[test]
fn counts_of_typed_evidence_are_capped() {
    // 1.4 * 1 + 0.75 * 4 + 1.0 * 2 + 0.7 * 1 + 0.55 * 2 = 8.2; pairs 1.0 + 0.8 + 0.75 + 0.55 + 0.9 = 4; 0.35 * 4.
    let shared = Shared { people: 1, subjects: 5, times: 3, actions: 1, objects: 2 };
    assert!((shared.evidence() - 13.6).abs() < 1e-5, "{}", shared.evidence());
    assert_eq!(Shared { subjects: 5, ..Shared::default() }.evidence(), 0.0);
}
