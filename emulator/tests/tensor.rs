//! Tensor-core instructions in all their shapes: fragments are laid out here as the ISA's figures have them.
//!
//! Values are small integers, exact in every format, so that sums are too. The forms that kernels use most are tested
//! from memory on in `warps.rs`.

use emulator::{Arg, Device, Module, Shape};
use half::{bf16, f16};

/// The format of a matrix element.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    F16,
    Bf16,
    Tf32,
    F32,
}
use Kind::{Bf16, F16, F32, Tf32};

impl Kind {
    fn name(self) -> &'static str {
        match self {
            F16 => "f16",
            Bf16 => "bf16",
            Tf32 => "tf32",
            F32 => "f32",
        }
    }

    fn bits(self, v: i32) -> u32 {
        match self {
            F16 => u32::from(f16::from_f32(v as f32).to_bits()),
            Bf16 => u32::from(bf16::from_f32(v as f32).to_bits()),
            Tf32 | F32 => (v as f32).to_bits(),
        }
    }

    fn value(self, bits: u32) -> i32 {
        match self {
            F16 => f16::from_bits(bits as u16).to_f32() as i32,
            _ => f32::from_bits(bits) as i32,
        }
    }

    /// Elements in a register.
    fn per(self) -> usize {
        if matches!(self, F16 | Bf16) { 2 } else { 1 }
    }
}

fn small(at: usize, seed: usize) -> i32 {
    ((at * 7919 + seed * 104_729) / 5 % 9) as i32 - 4
}

/// A kernel of one warp: `inputs` words a lane go in, `outputs` come out.
fn warp(body: &str, inputs: &[Vec<u32>], outputs: usize) -> Vec<Vec<u32>> {
    let n = inputs[0].len();
    let load: String = (0..n).map(|k| format!("ld.global.b32 %i{k}, [%a+{}];\n", 4 * k)).collect();
    let store: String = (0..outputs).map(|k| format!("st.global.b32 [%b+{}], %o{k};\n", 4 * k)).collect();
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y) {{\n\
         .reg .b32 %t, %i<64>, %o<64>; .reg .b64 %a, %b, %d<4>; .shared .align 128 .b8 s[1024];\n\
         ld.param.u64 %a, [x]; ld.param.u64 %b, [y]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, {}, %a;\n\
         mad.wide.u32 %b, %t, {}, %b;\n{load}{body}\n{store}ret;\n}}",
        4 * n,
        4 * outputs
    );
    let m = Module::load(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut d = Device::default();
    let x = d.buffer(&inputs.concat());
    let y = d.uninit::<u32>(32 * outputs);
    let k = m.kernel("k").expect("it is there");
    d.launch(&k, Shape::line(1, 32), &[Arg::from(x), Arg::from(y)]).unwrap_or_else(|e| panic!("{e}"));
    d.read_written(&y).expect("all is written").chunks(outputs).map(<[u32]>::to_vec).collect()
}

fn registers(prefix: &str, from: usize, n: usize) -> String {
    let names: Vec<String> = (from..from + n).map(|k| format!("%{prefix}{k}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// `mma` of 16 x 8 x `k`.
fn mma(k: usize, input: Kind, sums: Kind) {
    let (a, b) = (|r: usize, c: usize| small(r * k + c, 1), |r: usize, c: usize| small(r * 8 + c, 2));
    let c = |r: usize, c: usize| small(r * 8 + c, 3);
    let per = input.per();
    // Along k a lane holds groups of `per` elements, four lanes one behind another, so 4 * `per` to the next group.
    let pack = |kind: Kind, f: &dyn Fn(usize) -> i32| (0..kind.per()).fold(0, |w, h| w | kind.bits(f(h)) << (16 * h));
    let groups = k / (4 * per);
    let lanes: Vec<Vec<u32>> = (0..32)
        .map(|lane| {
            let (g, t) = (lane / 4, lane % 4);
            let along = |group: usize, h: usize| 4 * per * group + per * t + h;
            let mut words = Vec::new();
            for group in 0..groups {
                for row in [g, g + 8] {
                    words.push(pack(input, &|h| a(row, along(group, h))));
                }
            }
            for group in 0..groups {
                words.push(pack(input, &|h| b(along(group, h), g)));
            }
            for row in [g, g + 8] {
                for col in (0..2).step_by(sums.per()) {
                    words.push(pack(sums, &|h| c(row, 2 * t + col + h)));
                }
            }
            words
        })
        .collect();
    let (na, nb, nc) = (2 * groups, groups, 4 / sums.per());
    let name = input.name();
    let body = format!(
        "mma.sync.aligned.m16n8k{k}.row.col.{0}.{name}.{name}.{0} {1}, {2}, {3}, {4};",
        sums.name(),
        registers("o", 0, nc),
        registers("i", 0, na),
        registers("i", na, nb),
        registers("i", na + nb, nc)
    );
    for (lane, words) in warp(&body, &lanes, nc).iter().enumerate() {
        for e in 0..4 {
            let (row, col) = (lane / 4 + 8 * (e / 2), 2 * (lane % 4) + e % 2);
            let want = c(row, col) + (0..k).map(|j| a(row, j) * b(j, col)).sum::<i32>();
            let bits = words[e / sums.per()] >> (16 * (e % sums.per()));
            assert_eq!(sums.value(bits), want, "k {k} of {input:?} in {sums:?}, row {row}, column {col}");
        }
    }
}

#[test]
fn mma_of_every_shape() {
    mma(16, F16, F32);
    mma(16, F16, F16);
    mma(16, Bf16, F32);
    mma(8, F16, F32);
    mma(8, F16, F16);
    mma(8, Bf16, F32);
    mma(8, Tf32, F32);
    mma(4, Tf32, F32);
}

/// Halves of an 8 by 8 matrix as a lane holds them.
fn fragment(of: impl Fn(usize, usize) -> u32) -> Vec<Vec<u32>> {
    let half = |l: usize, h: usize| of(l / 4, 2 * (l % 4) + h);
    (0..32).map(|l| vec![half(l, 0) | half(l, 1) << 16]).collect()
}

#[test]
fn movmatrix_transposes() {
    let body = "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;";
    let at = |r: usize, c: usize| (8 * r + c) as u32;
    assert_eq!(warp(body, &fragment(at), 1), fragment(|r, c| at(c, r)));
}

#[test]
fn what_stmatrix_stores_ldmatrix_loads() {
    let at = |r: usize, c: usize| (100 + 8 * r + c) as u32;
    // Rows of 16 bytes; all lanes give an address, of which those of the first eight count.
    let body = |store: &str, load: &str| {
        format!(
            "and.b32 %o1, %t, 7; shl.b32 %o1, %o1, 4; cvt.u64.u32 %d1, %o1; mov.u64 %d2, s; add.u64 %d1, %d1, %d2;\n\
             stmatrix.sync.aligned.m8n8.x1{store}.shared.b16 [%d1], {{%i0}}; bar.warp.sync -1;\n\
             ldmatrix.sync.aligned.m8n8.x1{load}.shared.b16 {{%o0}}, [%d1];"
        )
    };
    for (store, load, turned) in
        [("", "", false), (".trans", ".trans", false), (".trans", "", true), ("", ".trans", true)]
    {
        let got = warp(&body(store, load), &fragment(at), 1);
        assert_eq!(got, fragment(|r, c| if turned { at(c, r) } else { at(r, c) }), "{store} {load}");
    }
}
