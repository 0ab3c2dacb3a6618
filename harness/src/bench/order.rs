//! The random orders of one round, fixed by a seed and the round's number.
//!
//! Any round can be played again alone: it needs no other round's numbers.

use fastrand::Rng;

/// Whose turn it is within a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// A hook, by its place among those compared, from 0.
    Lane(usize),
    /// The no-op child.
    Floor,
}

/// The orders of one round, drawn one after the other.
#[derive(Debug, Clone)]
pub struct Order {
    random: Rng,
}

impl Order {
    /// The orders of a round.
    pub fn of(seed: u64, round: u32) -> Order {
        Order { random: Rng::with_seed(mixed(seed, round)) }
    }

    /// An order of `n` scenarios, as positions from 0.
    pub fn scenarios(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.random.shuffle(&mut order);
        order
    }

    /// An order of `n` hooks and the no-op.
    pub fn turns(&mut self, n: usize) -> Vec<Turn> {
        let mut turns: Vec<Turn> = (0..n).map(Turn::Lane).chain([Turn::Floor]).collect();
        self.random.shuffle(&mut turns);
        turns
    }
}

/// A seed of its own for each number below another seed. Neighbouring numbers lead far apart (SplitMix64's finaliser).
pub(super) fn mixed(seed: u64, number: u32) -> u64 {
    let mut bits = seed.wrapping_add((u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that a round of five scenarios with three steps each draws.
    fn drawn(seed: u64, round: u32) -> (Vec<usize>, Vec<Vec<Turn>>) {
        let mut order = Order::of(seed, round);
        (order.scenarios(5), (0..15).map(|_| order.turns(2)).collect())
    }

    #[test]
    fn a_seed_fixes_the_order_and_rounds_and_seeds_differ() {
        assert_eq!(drawn(1, 7), drawn(1, 7));
        let rounds: Vec<_> = (0..50).map(|round| drawn(1, round)).collect();
        for (at, round) in rounds.iter().enumerate() {
            assert!(!rounds.iter().skip(at + 1).any(|other| other == round), "round {at} came twice");
        }
        assert!((0..50).all(|round| drawn(1, round) != drawn(2, round)));
    }

    #[test]
    fn every_hook_and_the_floor_have_one_turn_and_each_place_alike_often() {
        let mut places = [[0_u32; 3]; 3];
        for round in 0..6_000 {
            let turns = Order::of(3, round).turns(2);
            assert_eq!(turns.len(), 3);
            for (place, turn) in turns.iter().enumerate() {
                let who = match turn {
                    Turn::Lane(lane) => *lane,
                    Turn::Floor => 2,
                };
                places[who][place] += 1;
            }
        }
        // 2,000 each, with a standard deviation of 37: five of them on either side.
        assert!(places.iter().flatten().all(|n| (1_815..=2_185).contains(n)), "{places:?}");
    }

    #[test]
    fn scenarios_come_once_each() {
        let mut order = Order::of(9, 0).scenarios(40);
        order.sort_unstable();
        assert_eq!(order, (0..40).collect::<Vec<_>>());
        assert_eq!(Order::of(9, 0).scenarios(0), [0; 0]);
    }
}
