//! The promise: the functions of `device_std::math` have the same bits on a GPU as on a host, seen in the emulator; and
//! the approximations, where the instructions are as good as the emulator's, are as close as their documentation says.
//!
//! A NaN is only a NaN: its sign and payload are the machine's choice.

use std::fmt::Debug;

use cargo_latch::build::{BuildArgs, Builder, HintMode, Profile, Route, Wanted};
use cargo_latch::setup::Progress;
use device_std::host;
use device_std::math::{Bf16, F16};
use emulator::{Arg, Device, Module, Scalar, Shape};
use latch_tests::{archs, checkout, ptx};
use pieces::arithmetic;

/// The threads of a block.
const BLOCK: usize = 1024;
/// The arguments that each function gets, in blocks.
const BLOCKS: usize = 8;

/// A number by its bits.
trait Number: Copy + Debug {
    type Bits: Scalar + Copy + PartialEq + Debug;
    /// What lies at the turning points of the functions.
    const SPECIAL: &'static [f64];
    fn random(random: &mut Random) -> Self;
    fn of(value: f64) -> Self;
    /// The bits, the same for all NaNs.
    fn bits(self) -> Self::Bits;
    fn raw(self) -> Self::Bits;
    fn from_raw(bits: Self::Bits) -> Self;
    fn argument(self) -> Arg;
}

const TURNS: [f64; 16] = [
    0.0,
    1.0,
    0.5,
    2.0 / 3.0,
    4.0 / 3.0,
    0.5625,
    88.72284,
    103.972,
    128.0,
    149.5,
    709.78,
    745.13,
    1024.0,
    1074.5,
    f64::INFINITY,
    f64::NAN,
];

macro_rules! numbers {
    ($($float:ty: $bits:ty, $random:ident;)*) => {$(
        impl Number for $float {
            type Bits = $bits;
            const SPECIAL: &'static [f64] = &TURNS;

            /// Half of them of any size, half of a size that functions do something with.
            fn random(random: &mut Random) -> $float {
                let any = <$float>::from_bits(random.$random());
                let part = random.bits32() as $float / u32::MAX as $float;
                match random.bits32() % 4 {
                    0 | 1 => any,
                    2 => 2.0 * part - 1.0,
                    _ => 200.0 * part - 100.0,
                }
            }

            fn of(value: f64) -> $float {
                value as $float
            }

            fn bits(self) -> $bits {
                if self.is_nan() { <$float>::NAN.to_bits() } else { self.to_bits() }
            }

            fn raw(self) -> $bits {
                self.to_bits()
            }

            fn from_raw(bits: $bits) -> $float {
                <$float>::from_bits(bits)
            }

            fn argument(self) -> Arg {
                self.into()
            }
        }
    )*};
}

numbers! {
    f32: u32, bits32;
    f64: u64, bits64;
}

macro_rules! halves {
    ($($half:ty)*) => {$(
        impl Number for $half {
            type Bits = u16;
            const SPECIAL: &'static [f64] = &[];

            fn random(random: &mut Random) -> $half {
                <$half>::from_bits(random.bits32() as u16)
            }

            fn of(value: f64) -> $half {
                <$half>::from_f32(value as f32)
            }

            fn bits(self) -> u16 {
                if self.to_f32().is_nan() { u16::MAX } else { self.to_bits() }
            }

            fn raw(self) -> u16 {
                self.to_bits()
            }

            fn from_raw(bits: u16) -> $half {
                <$half>::from_bits(bits)
            }

            fn argument(self) -> Arg {
                self.to_bits().into()
            }
        }
    )*};
}

halves!(F16 Bf16);

/// Reproducible bits.
struct Random(u64);

impl Random {
    fn bits64(&mut self) -> u64 {
        u64::from(self.bits32()) << 32 | u64::from(self.bits32())
    }

    fn bits32(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }
}

/// Special numbers, both signs and their neighbours, then random ones.
fn arguments<T: Number>(seed: usize) -> Vec<T>
where
    T::Bits: TryFrom<u64> + Into<u64>,
{
    let near = |value: f64| {
        let bits: u64 = T::of(value).raw().into();
        [bits.saturating_sub(1), bits, bits + 1].map(|bits| T::Bits::try_from(bits).ok().map(T::from_raw))
    };
    let signed = T::SPECIAL.iter().flat_map(|value| [*value, -*value]);
    let mut random = Random(seed as u64);
    let mut all: Vec<T> = signed.flat_map(near).flatten().collect();
    all.extend(std::iter::repeat_with(|| T::random(&mut random)).take(BLOCK * BLOCKS - all.len()));
    all
}

/// One kernel of the crate `pieces`, compiled and on the host. `F` to `T`, `each` results a thread.
struct Piece<'a, F, T> {
    module: &'a Module,
    name: &'static str,
    each: usize,
    /// What all threads have in common, where the kernel asks for it.
    common: Option<F>,
    host: unsafe fn(*const F, Option<F>, *mut T),
}

impl<F: Number, T: Number> Piece<'_, F, T>
where
    F::Bits: TryFrom<u64> + Into<u64>,
{
    /// The arguments, what the host makes of them, and what the compiled kernel does.
    fn run(&self) -> (Vec<F>, Vec<T>, Vec<T>) {
        let xs: Vec<F> = arguments(self.name.len());
        let (mut host_results, mut results) = (Vec::new(), Vec::new());
        for xs in xs.chunks(BLOCK) {
            let mut ys = vec![T::of(1.0); BLOCK * self.each];
            let y = ys.as_mut_ptr();
            // SAFETY: there are an argument and a place for each thread of the block.
            host::launch(1, BLOCK as u32, 0, || unsafe { (self.host)(xs.as_ptr(), self.common, y) }).expect("it runs");
            host_results.extend(ys);

            let mut device = Device::default();
            let raw: Vec<F::Bits> = xs.iter().map(|x| x.raw()).collect();
            let output = device.uninit::<T::Bits>(BLOCK * self.each);
            let mut args: Vec<Arg> = vec![device.buffer(&raw).into()];
            args.extend(self.common.map(F::argument));
            args.push(output.into());
            let kernel = self.module.kernel(self.name).unwrap_or_else(|error| panic!("{error}"));
            let launched = device.launch(&kernel, Shape::line(1, BLOCK as u32), &args);
            launched.unwrap_or_else(|error| panic!("{}: {error}", self.name));
            let found = device.read_written(&output).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            results.extend(found.into_iter().map(T::from_raw));
        }
        (xs, host_results, results)
    }

    fn has_the_same_bits(&self) {
        let (xs, host, compiled) = self.run();
        for (i, (host, compiled)) in host.iter().zip(&compiled).enumerate() {
            let x = xs[i / self.each];
            assert_eq!(compiled.bits(), host.bits(), "{}({x:?}): {compiled:?} for the host's {host:?}", self.name);
        }
    }
}

/// Runs `check` on a piece for each name.
macro_rules! pieces {
    ($module:ident: $($name:ident: $from:ty, $to:ty $(| $common:expr)? $(=> $each:literal)?;)*) => {$(
        #[allow(unused_mut, unused_assignments)]
        {
            let mut common: Option<$from> = None;
            $(common = Some($common);)?
            #[allow(unused_mut, unused_assignments)]
            let mut each = 1;
            $(each = $each;)?
            Piece::<$from, $to> { module: $module, name: stringify!($name), each, common, host: pieces!(host $name $($common)?) }
                .has_the_same_bits();
        }
    )*};
    (host $name:ident) => {
        // SAFETY: whoever calls it gives an argument and a place for each thread.
        |x, _, y| unsafe { arithmetic::$name(x, y.cast()) }
    };
    (host $name:ident $common:expr) => {
        // SAFETY: as above.
        |x, common, y| unsafe { arithmetic::$name(x, common.expect("it is given"), y.cast()) }
    };
}

fn module(profile: Profile, route: Route, name: &str) -> Module {
    let arch = &archs(&[name])[0];
    let args = BuildArgs { hints: HintMode::Llvm, profile, route, archs: archs(&[name]), ..BuildArgs::default() };
    let builder =
        Builder::new(&checkout(), &args, Wanted::default(), &Progress::silent()).expect("set-up has been done");
    Module::load(&ptx(&builder, "pieces", arch)).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn same_bits(profile: Profile, route: Route, arch: &str) {
    let module = &module(profile, route, arch);
    pieces! { module:
        exp_f32: f32, f32;
        exp2_f32: f32, f32;
        log_f32: f32, f32;
        log2_f32: f32, f32;
        sqrt_f32: f32, f32;
        rsqrt_f32: f32, f32;
        recip_f32: f32, f32;
        fma_f32: f32, f32;
        sigmoid_f32: f32, f32;
        tanh_f32: f32, f32;
        numbers_f32: f32, f32 | -0.0 => 2;
        extremes_f32: f32, f32 | -0.0 => 2;
        exp_f64: f64, f64;
        exp2_f64: f64, f64;
        log_f64: f64, f64;
        log2_f64: f64, f64;
        sqrt_f64: f64, f64;
        rsqrt_f64: f64, f64;
        recip_f64: f64, f64;
        fma_f64: f64, f64;
        sigmoid_f64: f64, f64;
        tanh_f64: f64, f64;
        numbers_f64: f64, f64 | 0.0 => 2;
        extremes_f64: f64, f64 | 0.0 => 2;
        narrow_f16: f32, F16;
        widen_f16: F16, f32;
        narrow_bf16: f32, Bf16;
        widen_bf16: Bf16, f32;
    }
}

#[test]
fn optimized() {
    same_bits(Profile::Release, Route::Llc, "sm_90");
}

#[test]
fn optimized_where_a_minimum_passes_no_nan_on() {
    same_bits(Profile::Release, Route::Llc, "sm_75");
}

#[test]
fn not_optimized() {
    same_bits(Profile::Dev, Route::Llc, "sm_90");
}

#[test]
fn by_libnvvm() {
    same_bits(Profile::Release, Route::Nvvm, "sm_120a");
}

/// An approximation: its exact value, and its bound in units of the last place or, where it says so, absolutely.
struct Approximation {
    name: &'static str,
    exact: fn(f64) -> f64,
    ulps: fn(f64) -> f64,
    absolute: fn(f64) -> Option<f64>,
    range: (f32, f32),
}

/// The distance in units of the last place of the exact result.
fn distance(found: f32, exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(found) - exact).abs() / f64::exp2(f64::from(exponent.max(-126) - 23))
}

#[test]
fn approximations_are_as_close_as_they_say() {
    let never = |_: f64| None;
    let logarithm = |x: f64| (x > 0.5 && x < 2.0).then(|| f64::exp2(-22.0));
    let natural = |x: f64| (x > 0.5 && x < 2.0).then(|| f64::exp2(-22.2));
    let entry = |name, exact, ulps, absolute, range| Approximation { name, exact, ulps, absolute, range };
    let all: [Approximation; 9] = [
        entry("fast_exp", f64::exp, |x| 2.5 + 1.3 * x.abs(), never, (-87.0, 88.0)),
        entry("fast_exp2", f64::exp2, |_| 2.5, never, (-126.0, 127.9)),
        entry("fast_log", f64::ln, |_| 5.1, natural, (1.0e-30, 1.0e30)),
        entry("fast_log2", f64::log2, |_| 4.0, logarithm, (1.0e-30, 1.0e30)),
        entry("fast_sqrt", f64::sqrt, |_| 2.0, never, (1.0e-30, 1.0e30)),
        entry("fast_rsqrt", |x| 1.0 / x.sqrt(), |_| 2.2, never, (1.0e-30, 1.0e30)),
        entry("fast_recip", |x| 1.0 / x, |_| 1.0, never, (1.0e-30, 1.0e30)),
        entry("fast_tanh", f64::tanh, |_| 8192.0, never, (-20.0, 20.0)),
        entry("fast_sigmoid", |x| 1.0 / (1.0 + (-x).exp()), |x| 8.0 + 1.3 * (-x).max(0.0), never, (-87.0, 20.0)),
    ];
    let module = module(Profile::Release, Route::Llc, "sm_90");
    for Approximation { name, exact, ulps, absolute, range: (first, last) } in all {
        let step = |i: usize| first + (last - first) * (i as f32 / BLOCK as f32);
        let quotient = f64::from(last) / f64::from(first);
        let ratio = |i: usize| (f64::from(first) * quotient.powf(i as f64 / BLOCK as f64)) as f32;
        let xs: Vec<f32> = (0..BLOCK).map(|i| if first > 0.0 && i % 2 == 0 { ratio(i) } else { step(i) }).collect();
        let mut device = Device::default();
        let output = device.uninit::<f32>(BLOCK);
        let args = [device.buffer(&xs).into(), output.into()];
        let kernel = module.kernel(name).unwrap_or_else(|error| panic!("{error}"));
        device.launch(&kernel, Shape::line(1, BLOCK as u32), &args).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (x, found) in xs.iter().zip(device.read_written(&output).expect("every thread writes")) {
            let wide = f64::from(*x);
            let exact = exact(wide);
            let (error, bound) = match absolute(wide) {
                Some(bound) => ((f64::from(found) - exact).abs(), bound),
                None => (distance(found, exact), ulps(wide)),
            };
            assert!(error <= bound, "{name}({x:e}) = {found:e} is off by {error}, for at most {bound}");
        }
    }
}
