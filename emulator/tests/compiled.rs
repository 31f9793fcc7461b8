//! PTX that rustc's LLVM printed, at opt-level 0 and 3, computes what the Rust source says.

use emulator::{Arg, Device, LaunchError, Module, Shape};
use half::f16;

fn modules() -> [Module; 2] {
    [include_str!("ptx/rust_o0.ptx"), include_str!("ptx/rust_o3.ptx")]
        .map(|s| Module::load(s).expect("the module loads"))
}

fn run(m: &Module, d: &mut Device, name: &str, shape: Shape, args: &[Arg]) -> emulator::Report {
    let k = m.kernel(name).expect("the kernel exists");
    match d.launch(&k, shape, args) {
        Ok(r) => r,
        Err(e) => panic!("{name}: {e}"),
    }
}

#[test]
fn saxpy_is_the_host_loop_bit_for_bit() {
    for m in modules() {
        let n = 1000;
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.37 - 5.0).collect();
        let y: Vec<f32> = (0..n).map(|i| 1.0 / (i as f32 + 1.0)).collect();
        let mut d = Device::default();
        let (bx, by) = (d.buffer(&x), d.buffer(&y));
        let r =
            run(&m, &mut d, "saxpy", Shape::line(8, 128), &[(n as u32).into(), 1.5f32.into(), bx.into(), by.into()]);
        let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5 * x + y).collect();
        assert_eq!(d.read(&by).unwrap(), want);
        assert_eq!(r.counts.total.global_bytes, n as u64 * 12);
    }
}

#[test]
fn loops_with_continue_and_doubles() {
    for m in modules() {
        let n = 40usize;
        let x: Vec<f32> = (0..n + 32).map(|i| (i as f32).sin() * 9.0).collect();
        let mut d = Device::default();
        let (bx, by) = (d.buffer(&x), d.uninit::<f32>(32));
        run(&m, &mut d, "taps", Shape::line(1, 32), &[bx.into(), by.into(), n.into()]);
        let want: Vec<f32> = (0..32)
            .map(|t| {
                let (mut acc, mut acc2) = (0f32, 0f64);
                for k in 0..n {
                    acc += x[t + k] * 0.5;
                    acc2 += f64::from(x[k]);
                    if acc > 100.0 {
                        continue;
                    }
                    acc *= 1.5;
                }
                acc + acc2 as f32
            })
            .collect();
        assert_eq!(d.read_written(&by).unwrap(), want);
    }
}

#[test]
fn shuffles_and_ballots() {
    for m in modules() {
        let x: Vec<u32> = (0..64).map(|i| i * 7 + 1).collect();
        let mut d = Device::default();
        let (bx, by) = (d.buffer(&x), d.uninit::<u32>(64));
        run(&m, &mut d, "warpsum", Shape::line(1, 64), &[bx.into(), by.into()]);
        let want: Vec<u32> = (0..64)
            .map(|t| {
                let s: u32 = x[t / 32 * 32..][..32].iter().sum();
                s.wrapping_add(if s.is_multiple_of(2) { !0 } else { 0 })
            })
            .collect();
        assert_eq!(d.read_written(&by).unwrap(), want);
    }
}

#[test]
fn bounds_checked_slices_and_their_panic() {
    for m in modules() {
        let x: Vec<f32> = (0..33).map(|i| i as f32).collect();
        let mut d = Device::default();
        let (bx, by) = (d.buffer(&x), d.uninit::<f32>(32));
        run(&m, &mut d, "slices", Shape::line(1, 32), &[bx.into(), 33usize.into(), by.into()]);
        assert_eq!(d.read_written(&by).unwrap(), (0..32).map(|i| (2 * i + 1) as f32).collect::<Vec<_>>());
        let k = m.kernel("slices").unwrap();
        let e = d.launch(&k, Shape::line(1, 32), &[bx.into(), 32usize.into(), by.into()]).unwrap_err();
        assert!(matches!(e, LaunchError::Fault(_)), "{e}");
        assert!(e.to_string().contains("panic_bounds_check") && e.to_string().contains("thread (31, 0, 0)"), "{e}");
    }
}

#[test]
fn switches_local_arrays_and_halves() {
    for m in modules() {
        let x: Vec<u32> = (0..32).map(|i| (i * 5) % 9).collect();
        let h: Vec<f16> = (0..32).map(|i| f16::from_f32(i as f32 * 0.1)).collect();
        let mut d = Device::default();
        let (bx, by, bh) = (d.buffer(&x), d.uninit::<u32>(32), d.buffer(&h));
        run(&m, &mut d, "sw", Shape::line(1, 32), &[bx.into(), by.into(), bh.into()]);
        let mut loc = [0u32; 16];
        (0..16).for_each(|i| loc[(x[i] & 15) as usize] += i as u32);
        let arr = [3u32, 1, 4, 1, 5, 9, 2, 6];
        let want: Vec<u32> = (0..32)
            .map(|t| match x[t] {
                0 => loc[1],
                1 => loc[2].rotate_left(3),
                2 => arr[t & 7],
                3 => loc[4].count_ones(),
                4 => loc[5].leading_zeros(),
                5 => loc[t & 15],
                6 => t as u32 / loc[3],
                _ => 0,
            })
            .collect();
        assert_eq!(d.read_written(&by).unwrap(), want);
        let want: Vec<f16> = h
            .iter()
            .zip(&x)
            .map(|(h, x)| f16::from_f32((f16::from_f32(h.to_f32() * 2.0).to_f32()) + f16::from_f32(*x as f32).to_f32()))
            .collect();
        assert_eq!(d.read(&bh).unwrap(), want);
    }
}

#[test]
fn structures_by_value_and_atomics() {
    for m in modules() {
        let mut d = Device::default();
        let y = d.buffer(&[0u64; 32]);
        let mut p = Vec::new();
        p.extend(1000u64.to_le_bytes());
        p.extend(7u32.to_le_bytes());
        p.extend(9u16.to_le_bytes());
        p.extend([1u8, 2, 3, 4, 5, 6, 7]);
        p.resize(24, 0);
        run(&m, &mut d, "st", Shape::line(1, 32), &[Arg::bytes(p), y.into()]);
        let got = d.read(&y).unwrap();
        assert_eq!(got[5], 1000 / 7 + 9 + 2);
    }
}
