//! How many floating-point operations an instruction is, by its name alone.
//!
//! | instruction | operations |
//! |---|---|
//! | `add`, `sub`, `mul`, `div`, `rcp`, `sqrt`, `rsqrt`, `ex2`, `lg2`, `sin`, `cos`, `tanh` of f16, bf16, f32, f64 | 1 a thread |
//! | `fma`, `mad`, and `min`, `max` of three values | 2 a thread |
//! | `min`, `max` of two values | 1 a thread |
//! | the packed forms `f16x2`, `bf16x2`, `f32x2` | those of both halves |
//! | `atom`, `red`: `add`, `min`, `max` of floats | 1 a thread and element |
//! | `redux` of floats | 1 a thread |
//! | `mma` of m x n x k | 2 m n k a warp |
//! | `wgmma` of 64 x n x k | 2 · 64 n k a warpgroup, a quarter of it each of its warps |
//! | conversions, comparisons, selections, moves, `abs`, `neg`, `copysign` | 0 |
//!
//! An approximate function and a division are one operation each, however many instructions a GPU makes of them. Only
//! lanes that execute an instruction count, except that `mma` and `wgmma` are executed by all.

/// Operations of the instruction `name`, each thread's, where it has so many operands.
pub fn per_thread(name: &str, operands: usize) -> u32 {
    let mods: Vec<&str> = name.split('.').collect();
    let opcode = mods[0];
    if matches!(opcode, "mma" | "wgmma") {
        return mods.iter().find_map(|m| product(m)).map_or(0, |(m, n, k)| {
            let threads = if opcode == "mma" { 32 } else { 128 };
            2 * m * n * k / threads
        });
    }
    let Some(lanes) = mods.iter().rev().find_map(|m| lanes(m)) else { return 0 };
    let each = match opcode {
        "add" | "sub" | "mul" | "div" | "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => 1,
        "fma" | "mad" => 2,
        // The result and the values.
        "min" | "max" => operands.saturating_sub(2) as u32,
        "atom" | "red" if mods.iter().any(|m| matches!(*m, "add" | "min" | "max")) => elements(&mods),
        "redux" => 1,
        _ => 0,
    };
    each * lanes
}

/// Floats that a value of the type holds.
fn lanes(ty: &str) -> Option<u32> {
    match ty {
        "f16" | "bf16" | "f32" | "f64" => Some(1),
        "f16x2" | "bf16x2" | "f32x2" => Some(2),
        _ => None,
    }
}

/// Elements of a vector form.
fn elements(mods: &[&str]) -> u32 {
    mods.iter().find_map(|m| m.strip_prefix('v')?.parse().ok()).unwrap_or(1)
}

/// `m16n8k16`.
fn product(shape: &str) -> Option<(u32, u32, u32)> {
    let (m, rest) = shape.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::per_thread;

    #[test]
    fn every_line_of_the_rule() {
        for (name, operands, want) in [
            ("add.f32", 3, 1),
            ("add.rn.ftz.f64", 3, 1),
            ("sub.bf16", 3, 1),
            ("div.full.f32", 3, 1),
            ("ex2.approx.ftz.f32", 2, 1),
            ("tanh.approx.bf16x2", 2, 2),
            ("fma.rn.f32", 4, 2),
            ("fma.rn.relu.bf16x2", 4, 4),
            ("fma.rn.f32x2", 4, 4),
            ("mad.rn.f64", 4, 2),
            ("min.f32", 3, 1),
            ("max.NaN.f32", 4, 2),
            ("min.f16x2", 3, 2),
            ("red.global.add.f32", 2, 1),
            ("atom.global.v4.f32.add", 3, 4),
            ("atom.add.noftz.f16x2", 3, 2),
            ("atom.exch.b32", 3, 0),
            ("redux.sync.max.f32", 3, 1),
            ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 128),
            ("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", 8, 1024),
            ("wgmma.fence.sync.aligned", 0, 0),
            ("add.u32", 3, 0),
            ("mad.lo.s32", 4, 0),
            ("min.s32", 3, 0),
            ("cvt.rn.f16x2.f32", 3, 0),
            ("setp.lt.f32", 3, 0),
            ("selp.f32", 4, 0),
            ("ld.global.f32", 2, 0),
            ("abs.f32", 2, 0),
            ("neg.f16x2", 2, 0),
            ("copysign.f32", 3, 0),
        ] {
            assert_eq!(per_thread(name, operands), want, "{name}");
        }
    }
}
