//! The code of AMD's GPUs, made comparable: whole, or by its mnemonics.

use std::collections::BTreeMap;

use crate::renumber;

/// Hints to the scheduler and padding, which change with every version of LLVM.
const SCHEDULING: [&str; 3] = ["s_delay_alu", "s_clause", "s_nop"];
/// What every kernel has around its computation.
const FRAME: [&str; 5] = ["s_load_", "s_waitcnt", "global_load_", "global_store_", "s_endpgm"];
/// Up to so many instructions are shown in their order.
const SHOWN_IN_ORDER: usize = 24;

/// A function without what means nothing to its reader; labels by the order in which they appear.
pub fn code(function: &str) -> String {
    let is_kept = |line: &&str| !is_one_of(line, &SCHEDULING);
    let kept: String = function.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
    renumber(&kept, ".LBB", ".L", |character| character.is_ascii_digit() || character == '_')
}

/// The mnemonics of a function's computation: in order, or where there are many, how often each.
///
/// Two instructions in one, as some GPUs have them, count as two; the encoding (`_e32`, `_e64`) is left out.
pub fn computation(function: &str) -> String {
    let instructions = function.lines().filter(|line| line.starts_with('\t'));
    let instructions = instructions.filter(|line| !is_one_of(line, &SCHEDULING) && !is_one_of(line, &FRAME));
    let mnemonics: Vec<String> = instructions.flat_map(|line| line.split("::")).filter_map(mnemonic).collect();
    if mnemonics.len() <= SHOWN_IN_ORDER {
        return mnemonics.iter().map(|mnemonic| format!("  {mnemonic}\n")).collect();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    mnemonics.iter().for_each(|mnemonic| *counts.entry(mnemonic).or_default() += 1);
    counts.iter().map(|(mnemonic, count)| format!("  {count} x {mnemonic}\n")).collect()
}

fn is_one_of(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.trim_start().starts_with(start))
}

fn mnemonic(instruction: &str) -> Option<String> {
    let name = instruction.split_whitespace().next()?.replacen("v_dual_", "v_", 1);
    Some(["_e32", "_e64"].iter().fold(&*name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name)).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduling_is_left_out() {
        let function =
            ".LBB7_2:\n\ts_delay_alu instid0(SALU_CYCLE_1)\n\ts_cbranch_scc1 .LBB7_2\n\ts_nop 1\n\ts_branch .LBB7_1\n";
        assert_eq!(code(function), ".L0:\n\ts_cbranch_scc1 .L0\n\ts_branch .L1\n");
    }

    #[test]
    fn a_computation_is_its_mnemonics() {
        let function = "k:\n\ts_load_b64 s[0:1], s[0:1], 0x0\n\tv_dual_mov_b32 v0, 0 :: v_dual_add_f32 v1, v1, v2\n\t\
                        v_mul_f32_e32 v1, v1, v1\n\ts_waitcnt lgkmcnt(0)\n\tglobal_store_b32 v0, v1, s[0:1]\n\ts_endpgm\n";
        assert_eq!(computation(function), "  v_mov_b32\n  v_add_f32\n  v_mul_f32\n");
        let long = "\tv_add_f32_e32 v0, v0, v0\n\tv_mul_f32_e64 v0, v0, v0\n\tv_add_f32_e64 v0, v0, v0\n".repeat(10);
        assert_eq!(computation(&long), "  20 x v_add_f32\n  10 x v_mul_f32\n");
    }
}
