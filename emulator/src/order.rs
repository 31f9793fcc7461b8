//! The order of a function's blocks: what a group of lanes waits for comes before where it waits.
//!
//! Groups run lowest place first, so lanes meet again at the earliest point if the place where paths join is numbered
//! after all of both paths, and a loop's exit after the whole loop. That is a weak topological order (Bourdoncle,
//! *Efficient chaotic iteration strategies with widenings*, 1993): strongly connected components in topological order,
//! each one's entry first and the rest ordered in the same way without it. It needs no reducibility. Components are
//! taken from a work list and found without recursion, so nested loops cost no stack; and since every level of nesting
//! is searched again, levels beyond what any compiler prints are placed as they stand in the text.

/// The blocks reachable from block 0, in order.
pub(crate) fn order(successors: &[Vec<u32>]) -> Vec<u32> {
    let n = successors.len();
    let mut out = Vec::with_capacity(n);
    let mut search = Search {
        successors,
        part: vec![0; n],
        index: vec![UNSEEN; n],
        low: vec![0; n],
        on_stack: vec![false; n],
        next: 0,
    };
    let mut todo = Vec::new();
    if n > 0 {
        todo.push(Piece::Part { members: (0..n as u32).collect(), starts: vec![0] });
    }
    let mut parts = 0;
    let mut budget = MAX_WORK.max(64 * n);
    while let Some(piece) = todo.pop() {
        match piece {
            Piece::Block(b) => out.push(b),
            Piece::Part { mut members, .. } if members.len() > budget => {
                members.sort_unstable();
                out.extend(members);
            }
            Piece::Part { members, starts } => {
                budget -= members.len();
                parts += 1;
                // Found in reverse topological order, which is the order for a stack.
                for (blocks, head) in search.components(parts, &members, &starts) {
                    if blocks.len() > 1 {
                        let starts = successors[head as usize].clone();
                        let members = blocks.into_iter().filter(|&b| b != head).collect();
                        todo.push(Piece::Part { members, starts });
                    }
                    todo.push(Piece::Block(head));
                }
            }
        }
    }
    out
}

/// Blocks looked at, levels of nesting counted again, before the text's own order will do.
const MAX_WORK: usize = 100_000;

/// What is left to place, last first.
enum Piece {
    Block(u32),
    /// Blocks to order among themselves, and where paths come in.
    Part {
        members: Vec<u32>,
        starts: Vec<u32>,
    },
}

const UNSEEN: u32 = u32::MAX;

/// Tarjan's search, with arrays that are cleared for the members of a part only.
struct Search<'a> {
    successors: &'a [Vec<u32>],
    /// The part each block belongs to.
    part: Vec<u32>,
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    next: u32,
}

impl Search<'_> {
    /// Strongly connected components among `members`, reached from `starts`: their blocks, and the block by which each
    /// was entered.
    fn components(&mut self, part: u32, members: &[u32], starts: &[u32]) -> Vec<(Vec<u32>, u32)> {
        for &m in members {
            self.part[m as usize] = part;
            self.index[m as usize] = UNSEEN;
        }
        self.next = 0;
        let mut done = Vec::new();
        for &s in starts {
            if self.part[s as usize] == part && self.index[s as usize] == UNSEEN {
                self.walk(part, s, &mut done);
            }
        }
        done
    }

    fn walk(&mut self, part: u32, start: u32, done: &mut Vec<(Vec<u32>, u32)>) {
        let mut stack = Vec::new();
        let mut path: Vec<(u32, usize)> = Vec::new();
        self.open(start, &mut stack, &mut path);
        while let Some(top) = path.last_mut() {
            let b = top.0 as usize;
            if let Some(&s) = self.successors[b].get(top.1) {
                top.1 += 1;
                let si = s as usize;
                if self.part[si] != part {
                    continue;
                }
                if self.index[si] == UNSEEN {
                    self.open(s, &mut stack, &mut path);
                } else if self.on_stack[si] {
                    self.low[b] = self.low[b].min(self.index[si]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                self.low[parent as usize] = self.low[parent as usize].min(self.low[b]);
            }
            if self.low[b] == self.index[b] {
                let at = stack.iter().rposition(|&m| m as usize == b).unwrap_or(0);
                let blocks = stack.split_off(at);
                for &m in &blocks {
                    self.on_stack[m as usize] = false;
                }
                done.push((blocks, b as u32));
            }
        }
    }

    fn open(&mut self, b: u32, stack: &mut Vec<u32>, path: &mut Vec<(u32, usize)>) {
        self.index[b as usize] = self.next;
        self.low[b as usize] = self.next;
        self.next += 1;
        self.on_stack[b as usize] = true;
        stack.push(b);
        path.push((b, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(s: &[&[u32]]) -> Vec<usize> {
        let s: Vec<Vec<u32>> = s.iter().map(|v| v.to_vec()).collect();
        let o = order(&s);
        (0..s.len() as u32).map(|b| o.iter().position(|&x| x == b).unwrap_or(usize::MAX)).collect()
    }

    #[test]
    fn a_join_comes_after_both_sides_wherever_it_is_written() {
        // 0 -> {1 (the join, written first), 2}, 2 -> 3, 3 -> 1
        let p = places(&[&[1, 2], &[], &[3], &[1]]);
        assert!(p[2] < p[3] && p[3] < p[1], "{p:?}");
    }

    #[test]
    fn a_loops_exit_comes_after_the_loop_and_the_inner_loop_is_in_one_piece() {
        // 1 outer head, 2 exit, 3 inner head, 4 inner body, 5 outer latch
        let p = places(&[&[1], &[2, 3], &[], &[4, 5], &[3], &[1]]);
        assert!(p[2] > p[5], "{p:?}");
        assert!(p[3] < p[4] && p[4] < p[5], "{p:?}");
    }

    #[test]
    fn unreachable_blocks_are_left_out_and_irreducible_ones_are_not() {
        // 1 and 2 form a loop entered at both; 3 is unreachable.
        let p = places(&[&[1, 2], &[2], &[1, 4], &[4], &[]]);
        assert_eq!(p[3], usize::MAX);
        assert!(p[4] > p[1] && p[4] > p[2], "{p:?}");
    }

    #[test]
    fn ten_thousand_nested_loops_need_no_stack() {
        let n = 10_000u32;
        let mut s: Vec<Vec<u32>> = (0..n).map(|b| vec![b + 1]).collect();
        s.push(vec![]);
        for b in 0..n / 2 {
            s[(n - 1 - b) as usize].push(b);
        }
        assert_eq!(order(&s).len(), n as usize + 1);
    }
}
