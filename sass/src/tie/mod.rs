//! What became of every PTX loop: the machine code of a [`crate::Witness`], read loop by loop.
//!
//! ```text
//! PtxModule ──┐
//! Program ────┴─ landmarks ── for each PTX loop: what is left of the machine code's cycles without the landmarks
//!                             from outside it ── TiedLoop
//! ```
//!
//! **Landmarks.** ptxas moves, merges and makes again most instructions: constants, addresses and loads of parameters
//! turn up anywhere, also in loops that they were not written in. What it does not move out of a loop and into another
//! are side effects, loads of memory that can change, and conditional branches ([`Landmark`]). Only these say where a
//! piece of machine code stands.
//!
//! **The rule.** A loop is alive if, without all landmarks from outside it, the machine code still has a cycle that
//! holds a landmark of its own body, which is its blocks less those of loops inside it. It is gone if no such cycle
//! holds any instruction of its own body. Where one holds such instructions, but no landmark, nothing is proved: code
//! of a loop that was removed stays behind in the loop around it. No dominators are needed, so that irreducible code
//! does no harm. Functions called from a loop, in the end, are inside it, whether ptxas inlined them or not.
//!
//! **When it is wrong.** Of 36,000 loops of random kernels none was falsely alive or gone (`tests/nests.rs` holds it to
//! that); 3 in 100 were not proved, each of them gone. A loop whose
//! own body has no landmark but a branch that ptxas turned into a uniform one on several definitions is not proved. The
//! number of copies is that of the rarest landmark that is no branch: where ptxas merges accesses of several copies in
//! a wider one, it is too low.

mod cycles;
mod graph;
mod landmarks;
mod uniform;
mod verdict;

use std::collections::HashMap;

use codegen_pass::LoopId;

use crate::{Instruction, Kernel, Program, PtxFunction, PtxModule};

pub use landmarks::{Landmark, LandmarkKind};

/// A kernel's machine code, tied to its PTX.
#[derive(Clone, Debug)]
pub struct TiedKernel<'m> {
    /// The kernel's name.
    pub name: String,
    /// Every loop of every PTX function that the code was made from; functions in the order of the text, a loop before
    /// those inside it.
    pub loops: Vec<TiedLoop>,
    /// What the verdicts rest on.
    pub landmarks: Vec<Landmark<'m>>,
    /// The functions that the code was made from, by position in [`PtxModule::functions`].
    pub functions: Vec<usize>,
    /// The instructions of each PTX block, by function and block.
    code: HashMap<(usize, usize), BlockCode<'m>>,
    /// Instructions of which nothing is known: ptxas's own functions, and code without a line.
    pub unknown: Vec<&'m Instruction>,
}

/// What became of a PTX loop.
#[derive(Clone, Debug)]
pub struct TiedLoop {
    /// The PTX function, by position in [`PtxModule::functions`].
    pub function: usize,
    /// The loop in its forest.
    pub id: LoopId,
    /// What is left of it.
    pub verdict: Verdict,
    /// The cycles that are left of it, by section and address; more than one where it was inlined several times, or
    /// where ptxas put a remainder beside an unrolled loop.
    pub instances: Vec<Instance>,
}

/// The answer for one loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// The machine code has a loop of it.
    Alive,
    /// The machine code has none.
    Gone,
    /// A cycle holds instructions of it that may be there for other reasons.
    NotProved,
}

/// A cycle of machine code that is a PTX loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// How often the loop's own body stands in it: how many turns of the PTX loop make one of this.
    pub copies: u32,
    /// The section it stands in.
    pub section: String,
    /// The first addresses of its blocks, ascending.
    pub blocks: Vec<u64>,
}

/// The machine code of a PTX block, as far as it can be told.
#[derive(Clone, Default, Debug)]
pub struct BlockCode<'m> {
    /// Landmarks: they run when the block runs.
    pub fixed: Vec<&'m Instruction>,
    /// Made from its statements, but ptxas may have moved them elsewhere, merged them with those of other blocks, or
    /// made them again: they run about as often as the block, or less.
    pub loose: Vec<&'m Instruction>,
}

/// Ties every kernel of `program`, which must be the machine code of `ptx` with PTX lines ([`crate::Witness`]). Without
/// lines, no loop is found in it: each is [`Verdict::Gone`], so do not ask.
pub fn tie<'m>(ptx: &PtxModule, program: &Program<'m>) -> Vec<TiedKernel<'m>> {
    let calls = graph::Calls::of(ptx);
    program.kernels().map(|kernel| tie_kernel(ptx, &kernel, &calls)).collect()
}

fn tie_kernel<'m>(ptx: &PtxModule, kernel: &Kernel<'_, 'm>, calls: &graph::Calls) -> TiedKernel<'m> {
    let code = graph::Code::of(kernel);
    let landmarks = landmarks::of(ptx, &code);
    let functions = functions_in(ptx, kernel, &code);
    let loops = verdict::of(ptx, calls, &code, &landmarks, &functions);
    let mut tied = TiedKernel {
        name: kernel.name().to_owned(),
        loops,
        landmarks,
        functions,
        code: HashMap::new(),
        unknown: Vec::new(),
    };
    tied.share_out(ptx, &code);
    tied
}

/// The kernel itself, and every function with a line in the code.
fn functions_in(ptx: &PtxModule, kernel: &Kernel<'_, '_>, code: &graph::Code<'_>) -> Vec<usize> {
    let mut present = vec![false; ptx.functions().len()];
    ptx.position(kernel.name()).into_iter().for_each(|at| present[at] = true);
    let statements = code.instructions().filter_map(|(_, instruction)| ptx.at_line(instruction.ptx_line?));
    statements.for_each(|id| present[id.function as usize] = true);
    (0..present.len()).filter(|&at| present[at]).collect()
}

impl<'m> TiedKernel<'m> {
    /// The verdict on the loop of a PTX function whose header has a label.
    pub fn find(&self, ptx: &PtxModule, function: &str, label: &str) -> Option<&TiedLoop> {
        let position = ptx.position(function)?;
        let id = ptx.functions()[position].loop_at(label)?.id;
        self.loops.iter().find(|tied| tied.function == position && tied.id == id)
    }

    /// The machine code of a block of a PTX function, by position in [`PtxModule::functions`].
    pub fn code_of(&self, function: usize, block: usize) -> Option<&BlockCode<'m>> {
        self.code.get(&(function, block))
    }

    /// Gives every instruction to its block.
    fn share_out(&mut self, ptx: &PtxModule, code: &graph::Code<'m>) {
        let place = |landmark: &Landmark<'m>| (landmark.section, landmark.instruction.address);
        let fixed: std::collections::HashSet<_> = self.landmarks.iter().map(place).collect();
        for (node, instruction) in code.instructions() {
            let statement = instruction.ptx_line.and_then(|line| ptx.at_line(line));
            let is_wrong = uniform::is_uniform_branch(instruction);
            let Some(id) = statement.filter(|_| !is_wrong && !code.is_helper(node)) else {
                self.unknown.push(instruction);
                continue;
            };
            let function = id.function as usize;
            let block = ptx.functions()[function].block_of(id.statement as usize);
            let of_block = self.code.entry((function, block)).or_default();
            let is_fixed = fixed.contains(&(code.section(node), instruction.address));
            if is_fixed { of_block.fixed.push(instruction) } else { of_block.loose.push(instruction) }
        }
    }
}

impl TiedLoop {
    /// The PTX function.
    pub fn ptx_function<'p>(&self, ptx: &'p PtxModule) -> &'p PtxFunction {
        &ptx.functions()[self.function]
    }

    /// The most copies of its body that an instance holds; 0 where there is none.
    pub fn copies(&self) -> u32 {
        self.instances.iter().map(|instance| instance.copies).max().unwrap_or_default()
    }
}
