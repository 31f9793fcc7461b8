//! Functions, who calls whom, and what a kernel can reach.
//!
//! Whether a call goes on depends on whether the callee returns, which depends on the calls in the callee. So the
//! functions are walked again and again, starting from "nothing returns" and keeping what was found, until nothing
//! changes; chains of calls are short, and so is this.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::graph::Layout;
use crate::loops::loops_of;
use crate::{Callee, Graph, Instruction, Loop, Module, Place, Section, Symbol, SymbolKind};

/// The functions of a module, analysed.
#[derive(Clone, Debug)]
pub struct Program<'m> {
    functions: Vec<Function<'m>>,
}

/// A function: its control flow, loops and calls.
#[derive(Clone, Debug)]
pub struct Function<'m> {
    /// Where it stands.
    pub section: &'m Section,
    /// Its name, address and kind.
    pub symbol: &'m Symbol,
    /// Its blocks and edges.
    pub graph: Graph,
    /// Its natural loops, outer loops first.
    pub loops: Vec<Loop<'m>>,
    /// Does it hold a cycle that is no natural loop?
    pub irreducible: bool,
    /// Its calls, by address.
    pub calls: Vec<Call>,
}

/// A call, or a jump into another function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The instruction's address.
    pub address: u64,
    /// Every function that it may go to, by its position in [`Program::functions`]. None where the function is outside
    /// the cubin, such as `vprintf`; more than one for a call through a register.
    pub callees: Vec<usize>,
    /// Does a register name the callee?
    pub through_register: bool,
}

/// A kernel and everything that it can call.
#[derive(Clone, Debug)]
pub struct Kernel<'p, 'm> {
    program: &'p Program<'m>,
    /// The kernel, then what it reaches, in the order of their positions.
    reached: Vec<usize>,
}

impl<'m> Program<'m> {
    /// Analyses every function of `module`.
    pub fn of(module: &'m Module) -> Program<'m> {
        let layouts: Vec<Layout<'m>> = module.sections.iter().map(Layout::of).collect();
        let symbols: Vec<(usize, &'m Symbol)> = module
            .sections
            .iter()
            .enumerate()
            .flat_map(|(section, found)| found.symbols.iter().map(move |symbol| (section, symbol)))
            .collect();
        let directory = Directory::of(&symbols);
        let graphs = walk_until_stable(&layouts, &symbols, &directory);
        let functions = symbols.iter().zip(graphs).map(|(&(section, symbol), graph)| {
            Function::new(&module.sections[section], symbol, graph, |callee| directory.find(section, callee))
        });
        Program { functions: functions.collect() }
    }

    /// Every function, in the order of the disassembly.
    pub fn functions(&self) -> &[Function<'m>] {
        &self.functions
    }

    /// Every kernel, in the order of the disassembly.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel<'_, 'm>> {
        let is_kernel = |&at: &usize| self.functions[at].symbol.kind == SymbolKind::Kernel;
        (0..self.functions.len()).filter(is_kernel).map(|root| Kernel { program: self, reached: self.reachable(root) })
    }

    /// The kernel with a name.
    pub fn kernel(&self, name: &str) -> Option<Kernel<'_, 'm>> {
        self.kernels().find(|kernel| kernel.name() == name)
    }

    fn reachable(&self, root: usize) -> Vec<usize> {
        let mut reached = BTreeSet::new();
        let mut pending = vec![root];
        while let Some(at) = pending.pop() {
            if reached.insert(at) {
                pending.extend(self.functions[at].calls.iter().flat_map(|call| &call.callees));
            }
        }
        reached.remove(&root);
        std::iter::once(root).chain(reached).collect()
    }
}

impl<'m> Function<'m> {
    fn new(
        section: &'m Section,
        symbol: &'m Symbol,
        graph: Graph,
        find: impl Fn(&Callee) -> Vec<usize>,
    ) -> Function<'m> {
        let mut calls: Vec<Call> = graph
            .calls
            .iter()
            .map(|(at, callee)| Call {
                address: section.instructions[*at].address,
                callees: find(callee),
                through_register: *callee == Callee::Register,
            })
            .collect();
        calls.sort_by_key(|call| call.address);
        let (loops, irreducible) = loops_of(&graph, section);
        Function { section, symbol, graph, loops, irreducible, calls }
    }

    /// The instructions of one of its blocks.
    pub fn code(&self, block: usize) -> &'m [Instruction] {
        &self.section.instructions[self.graph.blocks[block].code.clone()]
    }

    /// Is it ptxas's own?
    pub fn is_helper(&self) -> bool {
        matches!(self.symbol.kind, SymbolKind::Arithmetic | SymbolKind::Support)
    }
}

impl<'p, 'm> Kernel<'p, 'm> {
    /// Its name, as in the PTX.
    pub fn name(&self) -> &'m str {
        &self.function().symbol.name
    }

    /// The kernel itself, without what it calls.
    pub fn function(&self) -> &'p Function<'m> {
        &self.program.functions[self.reached[0]]
    }

    /// The kernel and everything that it can call, helpers included.
    pub fn functions(&self) -> impl Iterator<Item = &'p Function<'m>> + '_ {
        self.reached.iter().map(|&at| &self.program.functions[at])
    }

    /// The function at a position that a [`Call`] names.
    pub fn callee(&self, at: usize) -> &'p Function<'m> {
        &self.program.functions[at]
    }

    /// The loops of the kernel and of the device functions that it can call, with the function each is in.
    pub fn loops(&self) -> Vec<(&'p Function<'m>, &'p Loop<'m>)> {
        loops_in(self.functions().filter(|function| !function.is_helper()))
    }

    /// The loops inside ptxas's own functions.
    pub fn helper_loops(&self) -> Vec<(&'p Function<'m>, &'p Loop<'m>)> {
        loops_in(self.functions().filter(|function| function.is_helper()))
    }

    /// Every instruction that can be reached, once, also where two functions share code.
    pub fn instructions(&self) -> Vec<&'m Instruction> {
        let code = |function: &'p Function<'m>| {
            let blocks =
                function.graph.blocks.iter().flat_map(|block| &function.section.instructions[block.code.clone()]);
            blocks.map(move |instruction| (key(function, instruction.address), instruction))
        };
        self.functions().flat_map(code).collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// Every call, once, also where two functions share code.
    pub fn calls(&self) -> Vec<&'p Call> {
        let calls =
            |function: &'p Function<'m>| function.calls.iter().map(move |call| (key(function, call.address), call));
        self.functions().flat_map(calls).collect::<BTreeMap<_, _>>().into_values().collect()
    }
}

/// An address is unique in a section only.
fn key<'m>(function: &Function<'m>, address: u64) -> (&'m str, u64) {
    (&function.section.name, address)
}

fn loops_in<'p, 'm: 'p>(functions: impl Iterator<Item = &'p Function<'m>>) -> Vec<(&'p Function<'m>, &'p Loop<'m>)> {
    let mut seen = BTreeSet::new();
    let all = functions.flat_map(|function| function.loops.iter().map(move |found| (function, found)));
    all.filter(|(function, found)| seen.insert(key(function, found.header))).collect()
}

/// Where functions are found by address and name.
#[derive(Default)]
struct Directory<'m> {
    by_address: HashMap<(usize, u64), usize>,
    by_name: HashMap<&'m str, usize>,
    /// The device functions in each section with a kernel, and those in sections of their own.
    beside_kernel: HashMap<usize, Vec<usize>>,
    alone: Vec<usize>,
}

impl<'m> Directory<'m> {
    fn of(symbols: &[(usize, &'m Symbol)]) -> Directory<'m> {
        let with_kernel: BTreeSet<usize> =
            symbols.iter().filter(|(_, s)| s.kind == SymbolKind::Kernel).map(|(section, _)| *section).collect();
        let mut directory = Directory::default();
        for (at, &(section, symbol)) in symbols.iter().enumerate() {
            directory.by_address.insert((section, symbol.address), at);
            directory.by_name.insert(&symbol.name, at);
            if symbol.kind == SymbolKind::Device {
                let beside = with_kernel.contains(&section);
                let list =
                    if beside { directory.beside_kernel.entry(section).or_default() } else { &mut directory.alone };
                list.push(at);
            }
        }
        directory
    }

    fn find(&self, section: usize, callee: &Callee) -> Vec<usize> {
        match callee {
            Callee::Known(Place::Address(address)) => {
                self.by_address.get(&(section, *address)).copied().into_iter().collect()
            }
            Callee::Known(Place::Symbol(name)) => self.by_name.get(name.as_str()).copied().into_iter().collect(),
            Callee::Register => {
                self.beside_kernel.get(&section).into_iter().flatten().chain(&self.alone).copied().collect()
            }
        }
    }
}

/// Walks all functions until it is settled which of them return.
fn walk_until_stable(layouts: &[Layout<'_>], symbols: &[(usize, &Symbol)], directory: &Directory<'_>) -> Vec<Graph> {
    let mut returns = vec![false; symbols.len()];
    loop {
        let graphs: Vec<Graph> = symbols
            .iter()
            .map(|&(section, symbol)| {
                // A function outside the cubin, or an unknown one, may return.
                let can_return = |callee: &Callee| match directory.find(section, callee).as_slice() {
                    [only] if *callee != Callee::Register => returns[*only],
                    _ => true,
                };
                layouts[section].walk(symbol.address, &can_return)
            })
            .collect();
        let found: Vec<bool> = graphs.iter().map(|graph| graph.returns).collect();
        if found == returns {
            return graphs;
        }
        returns = found;
    }
}
