//! What CUDA's intrinsics, cooperative groups and pipelines become, as nvcc 13.5 printed it, against host arithmetic.

use emulator::{Arg, Device, Module, Shape};
use half::{bf16, f16};

fn launch(d: &mut Device, name: &str, shape: Shape, args: &[Arg]) {
    let m = Module::load(include_str!("ptx/intrinsics_sm_100a.ptx")).unwrap_or_else(|e| panic!("{e}"));
    d.launch(&m.kernel(name).expect("it exists"), shape, args).unwrap_or_else(|e| panic!("{e}"));
}

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) ^ k << 7).rotate_left(k) >> (k % 9)).collect()
}

#[test]
fn shuffles_votes_matches_and_groups() {
    let x = numbers(32);
    let mut d = Device::default();
    let (bx, by) = (d.buffer(&x), d.uninit::<u32>(32 * 24));
    launch(&mut d, "warps", Shape::line(1, 32), &[bx.into(), by.into()]);
    let lanes = |f: &dyn Fn(usize) -> bool| (0..32).filter(|&l| f(l)).fold(0u32, |m, l| m | 1 << l);
    let odd = lanes(&|l| x[l] & 1 != 0);
    let yes = |b: bool| u32::from(b);
    for (t, got) in d.read_written(&by).unwrap().chunks(24).enumerate() {
        let tile = t / 16 * 16;
        let (rank, size) = ((odd & ((1 << t) - 1)).count_ones(), odd.count_ones());
        let second = (0..32).filter(|k| x[t] >> k & 1 != 0).nth(1).unwrap_or(u32::MAX);
        let want = [
            x[3],
            if t % 8 == 0 { x[t] } else { x[t - 1] },
            if t + 2 < 32 { x[t + 2] } else { x[t] },
            x[t ^ 4],
            lanes(&|l| x[l] & 3 == x[t] & 3),
            lanes(&|l| x[l] & 1 == x[t] & 1),
            !0,
            1,
            yes(x.iter().all(|v| *v > 3)),
            yes(x.contains(&3)),
            odd,
            1,
            x.iter().fold(0, |s, v| s.wrapping_add(*v)),
            x.iter().copied().min().unwrap(),
            x.iter().map(|v| *v as i32).max().unwrap() as u32,
            x.iter().fold(0, |s, v| s ^ v),
            x[tile..tile + 16].iter().fold(0, |s, v| s.wrapping_add(*v)),
            if t % 16 + 2 < 16 { x[t + 2] } else { x[t] },
            odd >> tile & 0xffff,
            if odd >> t & 1 != 0 { rank } else { 77 },
            if odd >> t & 1 != 0 { size } else { 77 },
            size,
            second,
            yes(x.contains(&3)),
        ];
        assert_eq!(got, want, "thread {t}");
    }
}

#[test]
fn atomics_of_every_type_and_scope() {
    let mut d = Device::default();
    let u = d.buffer(&[0u32, 0, 0, 0, 0, 0, 0, 0, 10]);
    let (i, l) = (d.buffer(&[0i32]), d.buffer(&[0u64; 2]));
    let (f, dd, q) = (d.buffer(&[0f32]), d.buffer(&[0f64]), d.buffer(&[0f32; 4]));
    let (h, b, s) = (d.buffer(&[f16::ZERO; 2]), d.buffer(&[bf16::ZERO; 2]), d.buffer(&[0u16; 2]));
    let args = [u.into(), i.into(), l.into(), f.into(), dd.into(), h.into(), b.into(), q.into(), s.into()];
    launch(&mut d, "atomics", Shape::line(3, 96), &args);
    // 288 threads, their numbers 0 to 95 three times; counters from 0 to 9 up, and down.
    let odd = (0..96).fold(0, |x, t| x ^ t);
    assert_eq!(d.read(&u).unwrap(), [3 * 95 * 48, 95, !0, odd, 8, 2, 2 * 288, 3 * (96 + 192), 7]);
    assert_eq!((d.read(&i).unwrap(), d.read(&l).unwrap()), (vec![-95], vec![288 << 33, 95 << 35]));
    assert_eq!((d.read(&f).unwrap(), d.read(&dd).unwrap()), (vec![144.0], vec![72.0]));
    assert_eq!(d.read(&q).unwrap(), [288.0, 576.0, 864.0, 1152.0]);
    assert_eq!(d.read(&h).unwrap(), [f16::from_f32(288.0), f16::from_f32(576.0)]);
    // 256 and 1 is 256 in bfloat16.
    assert_eq!(d.read(&b).unwrap()[0], bf16::from_f32(256.0));
    assert_eq!(d.read(&s).unwrap(), [864, 0]);
}

/// Bytes, or halves, of two words put together one by one.
fn by<const BITS: u32>(v: u32, w: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let part = |v: u32, k: u32| v >> k & (!0 >> (32 - BITS));
    (0..32).step_by(BITS as usize).fold(0, |o, k| o | f(part(v, k), part(w, k)) << k)
}

#[test]
fn bytes_fields_and_switches() {
    let x = numbers(64);
    let mut d = Device::default();
    let (bx, out) = (d.buffer(&x), d.uninit::<u32>(32 * 16));
    launch(&mut d, "bits", Shape::line(1, 32), &[bx.into(), out.into()]);
    for (t, got) in d.read_written(&out).unwrap().chunks(16).enumerate() {
        let (v, w, n) = (x[t], x[t + 32], t as u32);
        let wide = u64::from(w) << 32 | u64::from(v);
        let byte = |v: u32, k: u32| i32::from((v >> (8 * k)) as i8);
        let differences = by::<8>(v, w, u32::abs_diff);
        let turned = match t {
            0 => w.wrapping_add(5),
            1 => w.wrapping_mul(7),
            2 => w ^ v,
            3 => w.wrapping_sub(11),
            4 => !w,
            5 => w << 3,
            6 => w / 6,
            7 => w % 7,
            _ => w,
        };
        let low = |v: u32| (v << 8) as i32 >> 8;
        let want = [
            (0..4).fold(0, |o, k| o | ((wide >> (8 * ((n * 0x1111) >> (4 * k) & 7))) as u32 & 255) << (8 * k)),
            (wide << n >> 32) as u32,
            w,
            (0..4).fold(7i32, |s, k| s.wrapping_add(byte(v, k) * byte(w, k))) as u32,
            ((v & 0xffff) * (w >> 16 & 255)).wrapping_add((v >> 16) * (w >> 24)).wrapping_add(7),
            differences,
            by::<16>(v, w, |a, b| u32::from((a as i16).max(b as i16) as u16)),
            (v as i32).max(w as i32).max(0) as u32,
            differences.to_le_bytes().iter().map(|b| u32::from(*b)).sum(),
            ((u64::from(v) * u64::from(w)) >> 32) as u32,
            v & w | !v & n,
            by::<16>(v, w, |a, b| (a + b).min(0xffff)),
            turned,
            v.reverse_bits() ^ turned.leading_zeros(),
            v.count_ones() + turned.count_ones(),
            low(v).wrapping_mul(low(turned)) as u32,
        ];
        assert_eq!(got, want, "thread {t}");
    }
}

#[test]
fn pipelined_copies_and_packed_halves() {
    // Multiples of a quarter: sums and products are exact before they are rounded.
    let x: Vec<f16> = (0..256).map(|k| f16::from_f32((k * 37 % 41) as f32 * 0.25 - 4.0)).collect();
    let mut d = Device::default();
    let (bx, by, bz) = (d.buffer(&x), d.uninit::<f16>(256), d.uninit::<bf16>(128));
    launch(&mut d, "halves", Shape::line(1, 32), &[bx.into(), by.into(), bz.into()]);
    let (y, z) = (d.read_written(&by).unwrap(), d.read_written(&bz).unwrap());
    for t in 0..32 {
        for h in 0..2 {
            let (a, b) = (x[2 * t + h].to_f32(), x[2 * (t + 32) + h].to_f32());
            let want = [(a * b + a).max(0.0), a.max(b), (a + b).clamp(0.0, 1.0), 1.0].map(f16::from_f32);
            assert_eq!([0, 1, 2, 3].map(|k| y[8 * t + 2 * k + h]), want, "thread {t}");
            let first = bf16::from_f32(a);
            let square = bf16::from_f32(first.to_f32() * first.to_f32() - first.to_f32());
            assert_eq!([z[4 * t + h], z[4 * t + 2 + h]], [first, square], "thread {t}");
        }
    }
}
