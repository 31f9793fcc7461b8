//! Random functions.

use crate::common;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A block of a random function.
#[derive(Clone, Debug)]
pub struct BlockSpec {
    /// How it ends: none returns, one jumps, two branch, more switch.
    targets: Vec<usize>,
    /// `enter` or `body`, and the site.
    markers: Vec<(bool, u32)>,
    /// One phi for each; the numbers choose what comes in.
    phis: Vec<u8>,
    /// Chooses the value that the block shows.
    shown: u8,
}

/// A random function. Block 0 follows the entry, which nothing jumps to.
#[derive(Clone, Debug)]
pub struct Spec {
    blocks: Vec<BlockSpec>,
}

/// All of them, of up to nine blocks.
pub fn specs() -> impl Strategy<Value = Spec> {
    (1..9usize).prop_flat_map(|count| {
        // More jumps and branches than switches, and a return now and then.
        let ends = prop::sample::select(vec![0usize, 1, 1, 1, 2, 2, 2, 2, 3, 4]);
        let targets = ends.prop_flat_map(move |ends| prop::collection::vec(0..count, ends));
        let marker = (any::<bool>(), prop::sample::select(vec![0u32, 0, 1, 2, 100]));
        let block =
            (targets, prop::collection::vec(marker, 0..3), prop::collection::vec(any::<u8>(), 0..3), any::<u8>());
        let block = block.prop_map(|(targets, markers, phis, shown)| BlockSpec { targets, markers, phis, shown });
        prop::collection::vec(block, count).prop_map(|blocks| Spec { blocks })
    })
}

impl Spec {
    pub fn body_markers(&self) -> usize {
        self.blocks.iter().flat_map(|block| &block.markers).filter(|(is_enter, _)| !is_enter).count()
    }

    /// The function as LLVM's text. Every site that occurs is entered in the entry block, too.
    pub fn text(&self) -> String {
        let mut text = String::from("define ptx_kernel void @f() {\nentry:\n");
        let sites: BTreeSet<u32> = self.blocks.iter().flat_map(|block| &block.markers).map(|marker| marker.1).collect();
        for site in sites {
            writeln!(text, "  enter {site}").unwrap();
        }
        text.push_str("  br label %b0\n");
        for at in 0..self.blocks.len() {
            self.write_block(&mut text, at);
        }
        text.push_str("}\n");
        for at in 0..self.blocks.len() {
            writeln!(text, "declare void @at_b{at}(i32)\ndeclare i1 @flip_b{at}()\ndeclare i32 @choose_b{at}()")
                .unwrap();
        }
        common::ir(&text)
    }

    fn write_block(&self, text: &mut String, at: usize) {
        let block = &self.blocks[at];
        writeln!(text, "b{at}:").unwrap();
        let incoming = self.predecessors(at);
        for (number, &seed) in block.phis.iter().enumerate() {
            let value = |(position, from): (usize, &Option<usize>)| match from {
                None => format!("[ {seed}, %entry ]"),
                Some(from) => format!("[ {}, %b{from} ]", self.value(*from, seed.wrapping_add(position as u8))),
            };
            // Parallel edges must bring the same value.
            let values: Vec<String> = incoming
                .iter()
                .map(|from| value((incoming.iter().position(|other| other == from).unwrap(), from)))
                .collect();
            if !values.is_empty() {
                writeln!(text, "  %p{at}.{number} = phi i32 {}", values.join(", ")).unwrap();
            }
        }
        for (is_enter, site) in &block.markers {
            match is_enter {
                true => writeln!(text, "  enter {site}").unwrap(),
                false => writeln!(text, "  body {site} {}", if *site == 100 { 2 } else { 1 }).unwrap(),
            }
        }
        writeln!(text, "  call void @at_b{at}(i32 {})", self.value(at, block.shown)).unwrap();
        self.write_end(text, at);
    }

    fn write_end(&self, text: &mut String, at: usize) {
        match self.blocks[at].targets[..] {
            [] => text.push_str("  ret void\n"),
            [to] => writeln!(text, "  br label %b{to}").unwrap(),
            [yes, no] => {
                writeln!(text, "  %c{at} = call i1 @flip_b{at}()\n  br i1 %c{at}, label %b{yes}, label %b{no}")
                    .unwrap();
            }
            [default, ref cases @ ..] => {
                let cases: Vec<String> =
                    cases.iter().enumerate().map(|(case, to)| format!("i32 {case}, label %b{to}")).collect();
                let cases = cases.join(" ");
                writeln!(text, "  %c{at} = call i32 @choose_b{at}()").unwrap();
                writeln!(text, "  switch i32 %c{at}, label %b{default} [ {cases} ]").unwrap();
            }
        }
    }

    /// The sources of the edges into a block, one for each edge; none is the entry.
    fn predecessors(&self, to: usize) -> Vec<Option<usize>> {
        let from =
            |from: usize| self.blocks[from].targets.iter().filter(move |&&target| target == to).map(move |_| from);
        let inner = (0..self.blocks.len()).flat_map(from).map(Some);
        (to == 0).then_some(None).into_iter().chain(inner).collect()
    }

    /// A value that is known at the end of a block: a number, or a phi of a block that dominates it.
    fn value(&self, at: usize, seed: u8) -> String {
        let known: Vec<String> = (0..self.blocks.len())
            .filter(|&other| self.dominates(other, at) && !self.predecessors(other).is_empty())
            .flat_map(|other| (0..self.blocks[other].phis.len()).map(move |number| format!("%p{other}.{number}")))
            .collect();
        match known.get(usize::from(seed) % (known.len() + 1)) {
            Some(phi) => phi.clone(),
            None => seed.to_string(),
        }
    }

    /// Can `inner` be reached, and not without passing through `outer`?
    fn dominates(&self, outer: usize, inner: usize) -> bool {
        self.reached(None).contains(&inner) && !self.reached(Some(outer)).contains(&inner)
    }

    fn reached(&self, without: Option<usize>) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut pending = vec![0];
        while let Some(block) = pending.pop() {
            if Some(block) != without && seen.insert(block) {
                pending.extend(&self.blocks[block].targets);
            }
        }
        seen
    }
}
