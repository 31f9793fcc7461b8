//! A reader of MIR's text: blocks, and where they go.

use std::collections::{BTreeMap, BTreeSet};

/// The functions of a crate, by name.
pub struct Mir {
    functions: BTreeMap<String, Function>,
}

/// One function.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    blocks: BTreeMap<usize, Block>,
}

/// One block.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    statements: Vec<String>,
    end: String,
    successors: Vec<usize>,
}

impl Mir {
    /// Reads what `--emit=mir` writes.
    pub fn read(text: &str) -> Mir {
        let mut functions = BTreeMap::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some((name, _)) = line.strip_prefix("fn ").and_then(|rest| rest.split_once('(')) {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                functions.insert(name.to_owned(), Function::read(&body));
            }
        }
        Mir { functions }
    }

    /// The function with a name.
    pub fn function(&self, name: &str) -> &Function {
        let known: Vec<&String> = self.functions.keys().collect();
        self.functions.get(name).unwrap_or_else(|| panic!("no function `{name}` among {known:?}"))
    }
}

impl Function {
    fn read(lines: &[&str]) -> Function {
        let mut blocks = BTreeMap::new();
        let mut lines = lines.iter();
        while let Some(line) = lines.next() {
            let Some(head) = line.strip_prefix("    bb").and_then(|rest| rest.strip_suffix(": {")) else { continue };
            let number = head.trim_end_matches(" (cleanup)");
            let mut statements: Vec<String> =
                lines.by_ref().take_while(|line| **line != "    }").map(|line| line.trim().to_owned()).collect();
            let end = statements.pop().expect("a block has an end");
            let successors = named_blocks(&end);
            let block = Block { statements, end, successors };
            blocks.insert(number.parse().expect("a block has a number"), block);
        }
        Function { blocks }
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The blocks that end in the enter marker of a site (given by its line), in ascending order.
    pub fn enters(&self, site: u32) -> Vec<usize> {
        self.calls(&format!("__latch_loop_enter(const \"nounroll|t|lib.rs|{site}|"))
    }

    /// The blocks that end in the body marker of a site (given by its line), in ascending order.
    pub fn bodies(&self, site: u32) -> Vec<usize> {
        self.calls(&format!("__latch_loop_body(const \"nounroll|t|lib.rs|{site}|"))
    }

    fn calls(&self, text: &str) -> Vec<usize> {
        self.blocks.iter().filter(|(_, block)| block.end.contains(text)).map(|(number, _)| *number).collect()
    }

    /// The end of a block.
    pub fn end(&self, block: usize) -> &str {
        &self.blocks[&block].end
    }

    /// The one block that a block goes to.
    pub fn only_successor(&self, block: usize) -> usize {
        match self.blocks[&block].successors[..] {
            [only] => only,
            ref several => panic!("bb{block} goes to {several:?}: {}", self.end(block)),
        }
    }

    /// The sources of the edges that lead back to `header`: those of its predecessors that the entry reaches only
    /// through it.
    pub fn latches(&self, header: usize) -> Vec<usize> {
        let reachable = self.reached(0, None);
        let around_it = self.reached(0, Some(header));
        let leads_back = |(number, block): &(&usize, &Block)| {
            block.successors.contains(&header) && reachable.contains(number) && !around_it.contains(number)
        };
        self.blocks.iter().filter(leads_back).map(|(number, _)| *number).collect()
    }

    /// The blocks of the loop with a header: those that reach a latch without passing through the header, and the
    /// header.
    pub fn loop_of(&self, header: usize) -> BTreeSet<usize> {
        let latches = self.latches(header);
        let reaches_latch =
            |block: &usize| self.reached(*block, Some(header)).iter().any(|reached| latches.contains(reached));
        let dominated = |block: &usize| !self.reached(0, Some(header)).contains(block);
        let inside = self.blocks.keys().copied().filter(|block| dominated(block) && reaches_latch(block));
        inside.chain([header]).collect()
    }

    /// The header of the smallest loop around a block.
    pub fn loop_holding(&self, block: usize) -> Option<usize> {
        let headers = self.blocks.keys().copied().filter(|&header| !self.latches(header).is_empty());
        let loops = headers.map(|header| (self.loop_of(header), header));
        loops
            .filter(|(inside, _)| inside.contains(&block))
            .min_by_key(|(inside, _)| inside.len())
            .map(|(_, header)| header)
    }

    /// Do all ways from the entry to `inner` pass through `outer`?
    pub fn dominates(&self, outer: usize, inner: usize) -> bool {
        !self.reached(0, Some(outer)).contains(&inner)
    }

    /// The blocks that `start` reaches, itself included, by ways that do not pass through `avoided`.
    fn reached(&self, start: usize, avoided: Option<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut pending = vec![start];
        while let Some(block) = pending.pop() {
            if Some(block) != avoided && reached.insert(block) {
                pending.extend(&self.blocks[&block].successors);
            }
        }
        reached
    }

    /// The body markers of a site that are the only latch of a loop, with the header of that loop.
    pub fn marked_latches(&self, site: u32) -> Vec<(usize, usize)> {
        let bodies = self.bodies(site).into_iter();
        let ends = bodies.filter_map(|body| match self.blocks[&body].successors[..] {
            [header] => Some((body, header)),
            _ => None,
        });
        ends.filter(|&(body, header)| self.latches(header) == [body]).collect()
    }

    /// Checks that a site has one loop, that its latch is single and holds the marker, that the marker which the macro
    /// wrote is still in the loop, and that no enter marker of the site is. Returns the header.
    pub fn single_latch(&self, site: u32) -> usize {
        let marked = self.marked_latches(site);
        let [(latch, header)] = marked[..] else {
            panic!("one marked latch for site {site}, not {marked:?}: {self:#?}")
        };
        let inside = self.loop_of(header);
        let written: Vec<usize> = self.bodies(site).into_iter().filter(|&body| body != latch).collect();
        assert!(written.len() <= 1 && written.iter().all(|body| inside.contains(body)), "{written:?}: {self:#?}");
        assert!(self.enters(site).iter().all(|enter| !inside.contains(enter)), "site {site} enters once: {self:#?}");
        header
    }
}

/// The numbers in `bb1`, `bb22`, in the order of the text, outside of string constants.
fn named_blocks(end: &str) -> Vec<usize> {
    let code: String = end.split('"').step_by(2).collect();
    let mut found: Vec<usize> = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter_map(|word| word.strip_prefix("bb")?.parse().ok())
        .collect();
    found.dedup();
    found
}
