//! The promise: every kernel, run on the host, computes the recurrence, within the tolerance of its element type.

use device_std::host::Launch;
use device_std::math::{Bf16, F16};
use gated_delta::Element;
use gated_delta::cases::Case;
use gated_delta::plan::Kernel;
use gated_delta::problem::{Outputs, Problem};

/// A kernel's function.
type Entry<T> = unsafe fn(
    *const T,
    *const T,
    *const T,
    *const f32,
    *const f32,
    *const f32,
    *mut T,
    *mut f32,
    *const u32,
    u32,
    u32,
    u32,
    u32,
);

/// An element type with its kernels.
trait Kernels: Element {
    const ENTRIES: &'static [(&'static str, Entry<Self>)];
}

macro_rules! kernels {
    ($($element:ty: $r64:ident $r128:ident $r256:ident $c16:ident $c32:ident $c64:ident $($mma:ident)?;)+) => {$(
        impl Kernels for $element {
            const ENTRIES: &'static [(&'static str, Entry<Self>)] = &[
                (stringify!($r64), gdn::recurrent::$r64),
                (stringify!($r128), gdn::recurrent::$r128),
                (stringify!($r256), gdn::recurrent::$r256),
                (stringify!($c16), gdn::wy::$c16),
                (stringify!($c32), gdn::wy::$c32),
                (stringify!($c64), gdn::wy::$c64),
                $((stringify!($mma), gdn::mma::$mma),)?
            ];
        }
    )+};
}

kernels! {
    f32: gdn_recurrent_f32_64 gdn_recurrent_f32_128 gdn_recurrent_f32_256 gdn_wy_chunk_f32_16 gdn_wy_chunk_f32_32
        gdn_wy_chunk_f32_64;
    F16: gdn_recurrent_f16_64 gdn_recurrent_f16_128 gdn_recurrent_f16_256 gdn_wy_chunk_f16_16 gdn_wy_chunk_f16_32
        gdn_wy_chunk_f16_64 gdn_wy_mma_f16;
    Bf16: gdn_recurrent_bf16_64 gdn_recurrent_bf16_128 gdn_recurrent_bf16_256 gdn_wy_chunk_bf16_16
        gdn_wy_chunk_bf16_32 gdn_wy_chunk_bf16_64 gdn_wy_mma_bf16;
}

/// An array at a multiple of 16 bytes, as a GPU's buffers are, with some room after its end.
struct Aligned<T> {
    memory: Vec<u128>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Aligned<T> {
    /// `values`, then NaN.
    fn new(values: &[f32]) -> Aligned<T> {
        let mut aligned = Aligned::<T>::nan(values.len());
        for (at, value) in values.iter().enumerate() {
            // SAFETY: the memory has room for `len` elements.
            unsafe { *aligned.as_mut_ptr().add(at) = T::from_f32(*value) };
        }
        aligned
    }

    /// `len` elements that are all NaN.
    fn nan(len: usize) -> Aligned<T> {
        Aligned {
            memory: vec![u128::MAX; (len * size_of::<T>()).div_ceil(16) + 1],
            len,
            element: std::marker::PhantomData,
        }
    }

    fn as_ptr(&self) -> *const T {
        self.memory.as_ptr().cast()
    }

    fn as_mut_ptr(&mut self) -> *mut T {
        self.memory.as_mut_ptr().cast()
    }

    fn values(&self) -> Vec<f32> {
        // SAFETY: the memory has `len` elements, all written.
        (0..self.len).map(|at| unsafe { (*self.as_ptr().add(at)).to_f32() }).collect()
    }
}

/// Runs a kernel on the host.
fn run<T: Kernels>(kernel: Kernel, problem: &Problem) -> Result<Outputs, device_std::host::Error> {
    let sizes = &problem.sizes;
    let plan = kernel.plan(sizes, T::FORMAT).expect("a problem that the kernels are for");
    let (_, entry) =
        T::ENTRIES.iter().copied().find(|(name, _)| *name == plan.entry).expect("the kernel is in the table");
    let [q, k, v] = [&problem.q, &problem.k, &problem.v].map(|values| Aligned::<T>::new(values));
    let [g, beta] = [&problem.g, &problem.beta].map(|values| Aligned::<f32>::new(values));
    let before = problem.state.as_ref().map(|state| Aligned::<f32>::new(state));
    let (mut y, mut after) = (Aligned::<T>::nan(sizes.values()), Aligned::<f32>::nan(sizes.states()));
    let starts = sizes.starts();
    let state_in = before.as_ref().map_or(std::ptr::null(), |state| state.as_ptr());
    let (out, state_out) = (y.as_mut_ptr(), after.as_mut_ptr());
    // SAFETY: the arrays are as the sizes ask.
    Launch::new(plan.grid, plan.block).dynamic_shared(plan.shared_bytes as usize).run(|| unsafe {
        entry(
            q.as_ptr(),
            k.as_ptr(),
            v.as_ptr(),
            g.as_ptr(),
            beta.as_ptr(),
            state_in,
            out,
            state_out,
            starts.as_ptr(),
            sizes.heads,
            sizes.key_heads,
            sizes.dk,
            sizes.dv,
        )
    })?;
    Ok(Outputs { y: y.values(), state: after.values() })
}

#[track_caller]
fn check<T: Kernels>(kernel: Kernel, cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let case = case.rounded(T::FORMAT);
        let outputs = case.run(|problem| run::<T>(kernel, problem)).expect("the kernel keeps the rules");
        wrong.extend(case.check(T::FORMAT, &outputs).err());
    }
    assert!(wrong.is_empty(), "{kernel:?}:\n{}", wrong.join("\n"));
}

#[test]
fn token_by_token() {
    check::<f32>(Kernel::Recurrent, Case::large());
    check::<f32>(Kernel::Recurrent, Case::all(64));
    check::<F16>(Kernel::Recurrent, Case::all(64));
    check::<Bf16>(Kernel::Recurrent, Case::all(64));
}

#[test]
fn in_chunks_of_16() {
    check::<f32>(Kernel::Chunk(16), Case::all(16));
}

#[test]
fn in_chunks_of_32() {
    check::<f32>(Kernel::Chunk(32), Case::all(32));
    check::<f32>(Kernel::Chunk(32), Case::large());
}

#[test]
fn in_chunks_of_64() {
    check::<f32>(Kernel::Chunk(64), Case::all(64));
}

#[test]
fn in_chunks_of_half_precision() {
    check::<F16>(Kernel::Chunk(64), Case::all(64));
}

#[test]
fn in_chunks_of_bfloat16() {
    check::<Bf16>(Kernel::Chunk(64), Case::all(64));
    check::<Bf16>(Kernel::Chunk(32), Case::long());
}

#[test]
fn on_tensor_cores() {
    check::<F16>(Kernel::Mma, Case::wide());
    check::<Bf16>(Kernel::Mma, Case::wide());
}
