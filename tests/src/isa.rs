//! AMD's assembly, as far as tests look at it: the instructions of a kernel, and its loops.
//!
//! A branch's target is a label of the same function. A branch to an address in registers leaves it. Wrong where a
//! kernel holds a table of jumps, which LLVM makes none of for these GPUs.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use cargo_latch::build::{BuildArgs, Builder, HintMode, Wanted};
use cargo_latch::inspect::text::amd_function;
use cargo_latch::setup::Progress;
use cargo_latch::target::Target;
use codegen_pass::{Block, ControlFlow, LoopForest};

/// The assembly of a kernel crate of the workspace in a folder.
pub fn assembly(folder: &Path, package: &str, arch: &str) -> String {
    let args = BuildArgs { hints: HintMode::Llvm, target: Some(Target::Amdgcn), ..BuildArgs::default() };
    let builder = Builder::new(folder, &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    let crates = builder.workspace.kernel_crates(&[package.to_owned()]).expect("a kernel crate");
    let built = builder.build(&crates[0], &arch.parse().expect("an architecture"), None).expect("the kernels build");
    built.text
}

/// The names of an assembly's kernels.
pub fn kernels(assembly: &str) -> BTreeSet<&str> {
    assembly.lines().filter_map(|line| line.trim().strip_prefix(".amdhsa_kernel ")).collect()
}

/// The blocks of a function: for each the instructions, and the blocks that may follow.
#[derive(Debug)]
pub struct Function {
    blocks: Vec<(Vec<String>, Vec<Block>)>,
}

impl Function {
    /// A function of an assembly text; panics where it is not there.
    pub fn of(assembly: &str, symbol: &str) -> Function {
        let text = amd_function(assembly, symbol).unwrap_or_else(|| panic!("`{symbol}` is not in the assembly"));
        let (mut blocks, mut labels) = (vec![Vec::new()], HashMap::new());
        for line in text.lines().skip(1) {
            if let Some(label) = line.strip_suffix(':') {
                if blocks.last().is_some_and(|block| !block.is_empty()) {
                    blocks.push(Vec::new());
                }
                labels.insert(label.to_owned(), Block::new(blocks.len() - 1));
            } else if let Some(instruction) = line.strip_prefix('\t').filter(|rest| !rest.starts_with('.')) {
                blocks.last_mut().expect("there is one").push(instruction.trim().replace('\t', " "));
                if ends_block(instruction) {
                    blocks.push(Vec::new());
                }
            }
        }
        let count = blocks.len();
        let with_successors = blocks.into_iter().enumerate().map(|(at, block)| {
            let successors = successors(&block, at, count, &labels);
            (block, successors)
        });
        Function { blocks: with_successors.collect() }
    }

    /// Every instruction, in the order of the text.
    pub fn instructions(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|(instructions, _)| instructions).map(String::as_str)
    }

    /// How many instructions have a mnemonic that starts so.
    pub fn count(&self, mnemonic: &str) -> usize {
        self.instructions().filter(|instruction| instruction.starts_with(mnemonic)).count()
    }

    /// Natural loops.
    pub fn loops(&self) -> usize {
        LoopForest::of(self).loops().len()
    }
}

fn ends_block(instruction: &str) -> bool {
    ["s_branch", "s_cbranch", "s_endpgm", "s_setpc"].iter().any(|start| instruction.starts_with(start))
}

fn successors(block: &[String], at: usize, count: usize, labels: &HashMap<String, Block>) -> Vec<Block> {
    let last = block.last().map_or("", String::as_str);
    let (mnemonic, operands) = last.split_once(' ').unwrap_or((last, ""));
    let target = labels.get(operands.trim()).copied();
    let next = Some(Block::new(at + 1)).filter(|_| at + 1 < count);
    match mnemonic {
        "s_endpgm" => Vec::new(),
        mnemonic if mnemonic.starts_with("s_setpc") => Vec::new(),
        "s_branch" => vec![target.unwrap_or_else(|| panic!("no label for `{last}`"))],
        mnemonic if mnemonic.starts_with("s_cbranch") => {
            let target = target.unwrap_or_else(|| panic!("no label for `{last}`"));
            next.into_iter().chain([target]).collect()
        }
        _ => next.into_iter().collect(),
    }
}

impl ControlFlow for Function {
    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> Block {
        Block::new(0)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.blocks[block.index()].1.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEST: &str = "k:\n\ts_mov_b32 s0, 0\n.LBB0_1:\n\ts_mov_b32 s1, 0\n.LBB0_2: ; inner\n\ts_add_u32 s1, s1, 1\n\t\
                        s_cbranch_scc1 .LBB0_2\n; %bb.3:\n\ts_cbranch_vccnz .LBB0_1\n\ts_branch .LBB0_5\n.LBB0_4:\n\t\
                        s_branch .LBB0_4\n.LBB0_5:\n\ts_endpgm\n\t.section\t.rodata\n";

    #[test]
    fn loops_are_counted_where_the_entry_reaches_them() {
        let function = Function::of(NEST, "k");
        assert_eq!(function.loops(), 2, "{function:?}");
        assert_eq!((function.count("s_cbranch"), function.count("s_add_u32"), function.count("v_")), (2, 1, 0));
    }
}
