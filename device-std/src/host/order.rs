//! In which order the threads of a block get their turns.

/// The order of turns. A kernel without races computes the same in every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// By linear thread index.
    #[default]
    Ascending,
    /// By linear thread index, from the last.
    Descending,
    /// A different order in each round, all of them given by the seed.
    Shuffled(u64),
}

impl Order {
    /// Brings the threads into the order of the round that comes after the one in which they stand.
    pub(super) fn arrange(&mut self, threads: &mut [usize], is_first_round: bool) {
        match self {
            Order::Ascending => {}
            Order::Descending if is_first_round => threads.reverse(),
            Order::Descending => {}
            Order::Shuffled(state) => {
                for end in (1..threads.len()).rev() {
                    let at = next(state) % (end as u64 + 1);
                    threads.swap(end, at as usize);
                }
            }
        }
    }
}

/// The next number of the SplitMix64 sequence.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::Order;
    use std::vec::Vec;

    fn rounds(mut order: Order) -> [Vec<usize>; 2] {
        let mut threads: Vec<usize> = (0..9).collect();
        order.arrange(&mut threads, true);
        let first = threads.clone();
        order.arrange(&mut threads, false);
        [first, threads]
    }

    #[test]
    fn fixed_orders_stay() {
        let ascending: Vec<usize> = (0..9).collect();
        let descending: Vec<usize> = (0..9).rev().collect();
        assert_eq!(rounds(Order::Ascending), [ascending.clone(), ascending]);
        assert_eq!(rounds(Order::Descending), [descending.clone(), descending]);
    }

    #[test]
    fn a_seed_gives_permutations_of_its_own() {
        let [mut first, second] = rounds(Order::Shuffled(1));
        assert_eq!([first.clone(), second.clone()], rounds(Order::Shuffled(1)));
        assert_ne!(first, second);
        assert_ne!(first, rounds(Order::Shuffled(2))[0]);
        first.sort_unstable();
        assert_eq!(first, (0..9).collect::<Vec<_>>());
    }
}
