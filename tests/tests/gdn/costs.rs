//! The promise: `kernels/gdn/COSTS.md` shows what the kernels take and what they execute, and both are within what was
//! meant.

use super::{kernels, report};
use cargo_latch::build::{HintMode, Profile, Route};
use cargo_latch::setup::cuda::Origin;
use gated_delta::plan::{Kernel, Plan};
use gated_delta::problem::{Format, Problem, Sizes};
use latch_tests::occupancy::Multiprocessor;
use latch_tests::{audits, builder, checkout};
use std::fmt::Write;

/// What the published mathematics of the fused chunked form takes: FLOP a token and head at dk = dv = 128, chunks of
/// 64.
const FUSED_FLOPS: f64 = 165e3;

/// The kernels compared, bfloat16 and dk = dv = 128.
const KERNELS: [(&str, Kernel); 3] = [
    ("gdn_recurrent_bf16_128", Kernel::Recurrent),
    ("gdn_wy_chunk_bf16_64", Kernel::Chunk(64)),
    ("gdn_wy_mma_bf16", Kernel::Mma),
];

/// So many tokens of one head. What the numbers are changes no count.
fn problem(tokens: u32) -> Problem {
    let sizes = Sizes::batch(1, tokens, 1, 1, 128, 128);
    let (keys, values, gates) = (sizes.keys(), sizes.values(), sizes.gates());
    let state = Some(vec![0.5; sizes.states()]);
    let (q, k) = (vec![0.0625; keys], vec![0.0625; keys]);
    Problem { sizes, q, k, v: vec![1.0; values], g: vec![0.875; gates], beta: vec![0.5; gates], state }
}

/// The table that `COSTS.md` has under a title.
fn shown(title: &str) -> String {
    let text = std::fs::read_to_string(checkout().join("kernels/gdn/COSTS.md")).expect("the file is there");
    let (_, rest) = text.split_once(title).expect("the title is there");
    rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|')).fold(
        String::new(),
        |mut table, line| {
            table += line.trim_end();
            table.push('\n');
            table
        },
    )
}

#[test]
fn instructions_operations_and_bytes_of_a_token() {
    let kernels = kernels(HintMode::Llvm, Route::Llc, "sm_90");
    let mut table =
        "| kernel | warp instructions | kFLOP | bytes asked for | bank conflicts |\n|---|---|---|---|---|\n".to_owned();
    for (name, kernel) in KERNELS {
        // What a sequence costs once, the state above all, drops out.
        let [short, long] =
            [64, 192].map(|tokens| report(&kernels, kernel, Format::Bf16, &problem(tokens)).1.counts.total);
        let each = |long: u64, short: u64| (long - short) as f64 / 128.0;
        let flops = each(long.flops, short.flops);
        writeln!(
            table,
            "| `{name}` | {:.0} | {:.1} | {:.0} | {:.1} |",
            each(long.warp_instructions, short.warp_instructions),
            flops / 1e3,
            each(long.global_bytes, short.global_bytes),
            each(long.bank_conflicts, short.bank_conflicts),
        )
        .expect("a string takes it");
        if kernel != Kernel::Recurrent {
            assert!(flops <= 1.3 * FUSED_FLOPS, "{name}: {flops} FLOP a token");
        }
    }
    assert_eq!(table, shown("## A token of one head"));
}

/// The plans of all kernels, for the largest keys that each is made for, and 128 where there is no largest.
fn plans() -> Vec<Plan> {
    let of = |dk, kernel: Kernel, format| kernel.plan(&Sizes::batch(1, 1024, 1, 1, dk, 128), format);
    let mut plans = Vec::new();
    for format in [Format::F32, Format::F16, Format::Bf16] {
        plans.extend([64, 128, 256].map(|dk| of(dk, Kernel::Recurrent, format)));
        plans.extend([16, 32, 64].map(|chunk| of(128, Kernel::Chunk(chunk), format)));
        plans.extend((format != Format::F32).then(|| of(128, Kernel::Mma, format)));
    }
    plans.into_iter().map(|plan| plan.expect("the sizes suit")).collect()
}

#[test]
fn registers_shared_memory_and_blocks() {
    let archs = ["sm_80", "sm_90", "sm_120a"];
    let builder = builder(&checkout(), HintMode::Llvm, Profile::Release);
    let entries = audits(&builder, "gdn", &archs);
    let plans = plans();
    let mut table =
        String::from("| kernel | shared bytes | registers | spilled | blocks per SM |\n|---|---|---|---|---|\n");
    for plan in &plans {
        let found: Vec<_> =
            entries.iter().filter_map(|entry| entry.kernels.iter().find(|k| k.name == plan.entry)).collect();
        let registers: Vec<u32> = found.iter().filter_map(|kernel| kernel.registers).collect();
        let spilled: u32 = found.iter().filter_map(|kernel| kernel.spill_bytes).sum();
        let blocks = |(arch, registers): (&&str, &u32)| {
            Multiprocessor::of(arch).blocks(plan.block[0], *registers, plan.shared_bytes)
        };
        let blocks: Vec<u32> = archs.iter().zip(&registers).map(blocks).collect();
        assert_eq!((registers.len(), spilled), (archs.len(), 0), "{}", plan.entry);
        let row = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let (name, shared) = (&plan.entry, plan.shared_bytes);
        writeln!(table, "| `{name}` | {shared} | {} | {spilled} | {} |", row(&registers), row(&blocks))
            .expect("a string");
    }
    for entry in &entries {
        assert_eq!(entry.kernels.len(), plans.len(), "every kernel is in the table");
    }
    // An installed ptxas of another version may give out registers in another way.
    if matches!(&builder.tools().cuda, Ok(tools) if matches!(tools.origin, Origin::Wheels(_))) {
        assert_eq!(table, shown("## A block"));
    }
}
