//! Cycles among some of the blocks of a graph: Tarjan's strongly connected components, with a stack of its own.
//!
//! Asked again and again for ever fewer blocks of one graph, so the working memory is kept, and each question costs
//! what the blocks asked for cost.

/// Finds cycles in one graph.
pub(super) struct Cycles<'g> {
    successors: &'g [Vec<usize>],
    /// Is the block part of the question?
    asked: Vec<bool>,
    /// The order in which blocks were met; 0 where not yet.
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    met: u32,
}

impl<'g> Cycles<'g> {
    pub(super) fn new(successors: &'g [Vec<usize>]) -> Cycles<'g> {
        let count = successors.len();
        Cycles {
            successors,
            asked: vec![false; count],
            number: vec![0; count],
            low: vec![0; count],
            on_stack: vec![false; count],
            stack: Vec::new(),
            met: 0,
        }
    }

    /// The strongly connected sets of `blocks` that hold a cycle.
    pub(super) fn among(&mut self, blocks: &[usize]) -> Vec<Vec<usize>> {
        blocks.iter().for_each(|&block| self.asked[block] = true);
        let mut found = Vec::new();
        for &block in blocks {
            if self.number[block] == 0 {
                self.search(block, &mut found);
            }
        }
        self.met = 0;
        for &block in blocks {
            self.asked[block] = false;
            self.number[block] = 0;
        }
        found
    }

    fn search(&mut self, start: usize, found: &mut Vec<Vec<usize>>) {
        // A block, and how many of its successors are done.
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((block, done)) = path.last_mut() {
            let block = *block;
            let Some(&next) = self.successors[block].get(*done) else {
                path.pop();
                if let Some(&(around, _)) = path.last() {
                    self.low[around] = self.low[around].min(self.low[block]);
                }
                found.extend(self.leave(block));
                continue;
            };
            *done += 1;
            if !self.asked[next] {
                continue;
            }
            if self.number[next] == 0 {
                self.enter(next);
                path.push((next, 0));
            } else if self.on_stack[next] {
                self.low[block] = self.low[block].min(self.number[next]);
            }
        }
    }

    fn enter(&mut self, block: usize) {
        self.met += 1;
        self.number[block] = self.met;
        self.low[block] = self.met;
        self.stack.push(block);
        self.on_stack[block] = true;
    }

    /// Closes the component that `block` opened, if it opened one with a cycle.
    fn leave(&mut self, block: usize) -> Option<Vec<usize>> {
        if self.low[block] != self.number[block] {
            return None;
        }
        let start = self.stack.iter().rposition(|&other| other == block)?;
        let mut members = self.stack.split_off(start);
        members.iter().for_each(|&member| self.on_stack[member] = false);
        members.sort_unstable();
        (members.len() > 1 || self.successors[block].contains(&block)).then_some(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_are_asked_for_count() {
        let graph = [vec![1], vec![2, 1], vec![0, 3], vec![4], vec![3, 5], vec![]];
        let mut cycles = Cycles::new(&graph);
        let sorted = |mut found: Vec<Vec<usize>>| {
            found.sort();
            found
        };
        assert_eq!(sorted(cycles.among(&[0, 1, 2, 3, 4, 5])), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(sorted(cycles.among(&[1, 2, 4, 5])), [vec![1]]);
        assert_eq!(sorted(cycles.among(&[0, 5])), [[0; 0]; 0]);
        assert_eq!(sorted(cycles.among(&[3, 4])), [[3, 4]]);
    }
}
