//! PTX that nvcc 13.5 printed for two architectures computes what the C++ source says.

use emulator::{Arg, Device, LaunchError, Module, Report, Shape};
use half::{bf16, f16};

fn modules() -> [Module; 2] {
    [include_str!("ptx/cpp_sm_80.ptx"), include_str!("ptx/cpp_sm_120a.ptx")]
        .map(|s| Module::load(s).unwrap_or_else(|e| panic!("{e}")))
}

fn run(m: &Module, d: &mut Device, name: &str, shape: Shape, args: &[Arg]) -> Report {
    d.launch(&m.kernel(name).expect("it exists"), shape, args).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn reduction_through_static_dynamic_and_constant_memory() {
    for m in modules() {
        let x: Vec<f32> = (0..500).map(|i| (i % 13) as f32).collect();
        let mut d = Device::default();
        let (bx, by) = (d.buffer(&x), d.uninit::<f32>(2));
        run(&m, &mut d, "reduce", Shape::line(2, 256).with_shared(1024), &[bx.into(), by.into(), 500i32.into()]);
        let want: Vec<f32> = x.chunks(256).map(|c| c.iter().sum()).collect();
        assert_eq!(d.read_written(&by).unwrap(), want);
        assert_eq!(d.variable(&m, "launches").unwrap(), 2i32.to_le_bytes());
    }
}

#[test]
fn library_functions_within_their_documented_error() {
    for m in modules() {
        let x: Vec<f32> = (1..=64).map(|i| i as f32 * 0.11).collect();
        let mut d = Device::default();
        let (bx, by) = (d.buffer(&x), d.uninit::<f32>(512));
        run(&m, &mut d, "functions", Shape::line(1, 64), &[bx.into(), by.into()]);
        for (v, got) in x.iter().zip(d.read_written(&by).unwrap().chunks(8)) {
            let v = f64::from(*v);
            let want =
                [v.exp(), v.sin(), v.ln(), v.sqrt(), 1.0 / v.sqrt(), v.tanh(), v.powf(f64::from(1.7f32)), 1.0 / v];
            for (k, (g, w)) in got.iter().zip(want).enumerate() {
                assert!((f64::from(*g) - w).abs() <= 1e-6 * w.abs().max(0.1), "function {k} of {v}: {g} for {w}");
            }
        }
    }
}

#[test]
fn integer_double_half_and_vector_arithmetic() {
    for m in modules() {
        let x: Vec<i32> = (0..32).map(|i| i * 123_457 - 1_000_000).collect();
        let dd: Vec<f64> = (0..32).map(|i| f64::from(i) * 0.7 - 3.0).collect();
        let h: Vec<f16> = (0..32).map(|i| f16::from_f32(i as f32 * 0.3)).collect();
        let b: Vec<bf16> = (0..32).map(|i| bf16::from_f32(i as f32 * 0.3)).collect();
        let q: Vec<f32> = (0..128).map(|i| i as f32 * 0.5).collect();
        let mut d = Device::default();
        let (bx, by, bd, bh, bb, bq) =
            (d.buffer(&x), d.uninit::<i32>(32), d.buffer(&dd), d.buffer(&h), d.buffer(&b), d.buffer(&q));
        run(
            &m,
            &mut d,
            "numbers",
            Shape::line(1, 32),
            &[bx.into(), by.into(), bd.into(), bh.into(), bb.into(), bq.into()],
        );
        let perm = |a: i32, b: i32, s: u32| {
            let all = u64::from(b as u32) << 32 | u64::from(a as u32);
            (0..4).fold(0u32, |o, k| o | ((all >> (8 * (s >> (4 * k) & 7))) as u32 & 255) << (8 * k)) as i32
        };
        let want: Vec<i32> = (0..32)
            .map(|t| {
                let v = x[t];
                let funnel = ((u64::from(t as u32) << 32 | u64::from(v as u32)) << 3 >> 32) as i32;
                let parts = [
                    v.leading_zeros() as i32,
                    v.reverse_bits(),
                    if v == 0 { 0 } else { v.trailing_zeros() as i32 + 1 },
                    perm(v, v.wrapping_mul(3), 0x3210 ^ t as u32),
                    funnel,
                    ((i64::from(v) * 77) >> 32) as i32,
                    v.count_ones() as i32,
                ];
                parts.iter().fold(v, |a, p| a.wrapping_add(*p))
            })
            .collect();
        assert_eq!(d.read_written(&by).unwrap(), want);
        assert_eq!(d.read(&bd).unwrap(), dd.iter().map(|v| v / 3.0 + v.mul_add(*v, 1.0)).collect::<Vec<_>>());
        let fma = |v: &f16| f16::from_f64(v.to_f64() * v.to_f64() + 1.5);
        assert_eq!(d.read(&bh).unwrap(), h.iter().map(fma).collect::<Vec<_>>());
        let sum = |(t, v): (usize, &bf16)| bf16::from_f32(v.to_f32() + t as f32);
        assert_eq!(d.read(&bb).unwrap(), b.iter().enumerate().map(sum).collect::<Vec<_>>());
        let quad = d.read(&bq).unwrap();
        assert_eq!(quad[4..8], [q[4] + q[5], q[5], q[6] * q[7], q[7]]);
    }
}

#[test]
fn recursion_structures_and_assertions() {
    for m in modules() {
        let mut d = Device::default();
        let x = d.buffer(&[1f32; 32]);
        let mut s: Vec<u8> = [10f32, 20.0, 30.0, 40.0, 50.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        s.resize(24, 0);
        s.extend(0.5f64.to_le_bytes());
        run(&m, &mut d, "calls", Shape::line(1, 32), &[x.into(), 3i32.into(), Arg::bytes(s.clone())]);
        assert_eq!(d.read(&x).unwrap(), [8.0 + 3.0 + 40.0 + 0.5; 32]);
        let k = m.kernel("calls").unwrap();
        let e = d.launch(&k, Shape::line(1, 32), &[x.into(), 5i32.into(), Arg::bytes(s)]).unwrap_err();
        assert!(matches!(e, LaunchError::Fault(_)), "{e}");
    }
}
