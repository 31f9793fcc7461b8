//! The promise: a call with wrong arguments is refused with one sentence that names the argument.

use gated_delta::plan::Kernel;
use gated_delta::problem::Format;
use gated_delta::problem::Sizes;
use gated_delta::{Error, Inputs, Kernels, Tensor};
use launch::Emulator;

/// No kernels: nothing here gets as far as a launch.
const EMPTY: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry none() { ret; }";

/// 5 tokens in two sequences, one key head for two heads, dk = 16, dv = 8.
struct Arrays {
    keys: Vec<f32>,
    values: Vec<f32>,
    gates: Vec<f32>,
    states: Vec<f32>,
}

impl Arrays {
    fn new() -> Arrays {
        Arrays { keys: vec![0.5; 80], values: vec![0.5; 80], gates: vec![0.5; 10], states: vec![0.5; 512] }
    }

    fn inputs(&self) -> Inputs<'_, f32> {
        Inputs {
            q: Tensor::dense(&self.keys, [5, 1, 16]),
            k: Tensor::dense(&self.keys, [5, 1, 16]),
            v: Tensor::dense(&self.values, [5, 2, 8]),
            g: Tensor::dense(&self.gates, [5, 2]),
            beta: Tensor::dense(&self.gates, [5, 2]),
            state: Some(Tensor::dense(&self.states, [2, 2, 8, 16])),
            starts: &[0, 3, 5],
        }
    }
}

/// What is said of the inputs that `change` makes of right ones.
fn refusal(change: impl for<'a> FnOnce(&'a Arrays, &mut Inputs<'a, f32>)) -> String {
    let arrays = Arrays::new();
    let kernels = Kernels::load(Emulator::default(), EMPTY).expect("the text is PTX");
    let mut inputs = arrays.inputs();
    assert!(kernels.prepare(&inputs).is_ok());
    change(&arrays, &mut inputs);
    match kernels.prepare(&inputs) {
        Ok(_) => panic!("the arguments are taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn shapes_that_do_not_fit() {
    let asked = "the shapes of `q` and `v` and the `starts` ask for";
    assert_eq!(
        refusal(|arrays, inputs| inputs.k = Tensor::dense(&arrays.keys, [5, 2, 8])),
        format!("`k` has the shape [5, 2, 8], and {asked} [5, 1, 16]")
    );
    assert_eq!(
        refusal(|arrays, inputs| inputs.v = Tensor::dense(&arrays.values, [10, 1, 8])),
        format!("`v` has the shape [10, 1, 8], and {asked} [5, 1, 8]")
    );
    assert_eq!(
        refusal(|arrays, inputs| inputs.g = Tensor::dense(&arrays.gates, [2, 5])),
        format!("`g` has the shape [2, 5], and {asked} [5, 2]")
    );
    assert_eq!(
        refusal(|arrays, inputs| inputs.beta = Tensor::dense(&arrays.gates, [10, 1])),
        format!("`beta` has the shape [10, 1], and {asked} [5, 2]")
    );
    assert_eq!(
        refusal(|arrays, inputs| inputs.state = Some(Tensor::dense(&arrays.states, [2, 2, 16, 8]))),
        format!("`state` has the shape [2, 2, 16, 8], and {asked} [2, 2, 8, 16]")
    );
}

#[test]
fn arrays_that_are_not_what_their_shape_says() {
    assert_eq!(
        refusal(|arrays, inputs| inputs.q = Tensor::dense(&arrays.keys[1..], [5, 1, 16])),
        "`q` has 79 elements, and not those of its shape [5, 1, 16]"
    );
    assert_eq!(
        refusal(|arrays, inputs| inputs.v = Tensor::with_strides(&arrays.values, [5, 2, 8], [8, 40, 1])),
        "`v` has the strides [8, 40, 1], and the kernels need [16, 8, 1]: copy it into a dense array"
    );
    // The stride of an axis of one element is of no account.
    let arrays = Arrays::new();
    let kernels = Kernels::load(Emulator::default(), EMPTY).expect("the text is PTX");
    let inputs = Inputs { q: Tensor::with_strides(&arrays.keys, [5, 1, 16], [16, 7, 1]), ..arrays.inputs() };
    assert!(kernels.prepare(&inputs).is_ok());
}

#[test]
fn sequences_that_do_not_make_up_the_tokens() {
    for starts in [&[][..], &[5], &[0], &[0, 4], &[0, 6], &[1, 5], &[0, 4, 3, 5]] {
        assert_eq!(
            refusal(|_, inputs| inputs.starts = starts),
            "`starts` does not go from 0 to the 5 tokens of `q` without falling",
            "{starts:?}"
        );
    }
}

#[test]
fn sizes_that_kernels_are_not_made_for() {
    let twelve = |arrays: &Arrays| arrays.values[..60].to_vec();
    assert_eq!(
        refusal(|arrays, inputs| {
            inputs.v = Tensor::dense(twelve(arrays).leak(), [5, 1, 12]);
        }),
        "`dv` is 12: it must be a multiple of 8, and at least 8"
    );
    assert_eq!(
        refusal(|_, inputs| inputs.q = Tensor::dense(&[], [5, 1, 0])),
        "`dk` is 0: it must be a multiple of 8, and at least 8"
    );
    assert_eq!(
        refusal(|arrays, inputs| inputs.q = Tensor::dense(&arrays.keys, [5, 3, 16])),
        "`v` has 2 heads and `q` has 3: both must be at least 1, and the first a multiple of the second"
    );
    let sizes = Sizes::batch(1, 64, 1, 1, 264, 64);
    let told = |kernel: Kernel, format| kernel.plan(&sizes, format).map_err(|error| error.to_string());
    assert_eq!(told(Kernel::Recurrent, Format::F32), Err("`dk` is 264, and the kernel goes up to 256".to_owned()));
    assert_eq!(
        told(Kernel::Chunk(48), Format::F32),
        Err("a chunk of 48 tokens was asked for: there are chunks of 16, 32 and 64".to_owned())
    );
    assert_eq!(
        told(Kernel::Mma, Format::F16),
        Err("`dk` is 264, `dv` is 64 and elements are f16: the kernel for tensor cores is for `dk` = 128, `dv` a multiple \
             of 64, and f16 or bf16"
            .to_owned())
    );
    let many = Sizes { sequences: vec![1; 1 << 16], heads: 1 << 15, key_heads: 1, dk: 8, dv: 8 };
    assert_eq!(Kernel::Recurrent.plan(&many, Format::F32), Err(Error::TooManyHeads(1 << 31)));
}

#[test]
fn the_kernel_suits_sizes_and_device() {
    let sizes = |tokens, dk, dv| Sizes::batch(1, tokens, 1, 1, dk, dv);
    let (sm_80, sm_90, sm_120) = (163 << 10, 227 << 10, 99 << 10);
    let chosen = |tokens, dk, dv, format, limit| Kernel::choose(&sizes(tokens, dk, dv), format, limit);
    assert_eq!(chosen(4, 128, 128, Format::F32, sm_90), Kernel::Recurrent);
    assert_eq!(chosen(20, 128, 128, Format::F32, sm_90), Kernel::Chunk(32));
    assert_eq!(chosen(1000, 128, 128, Format::F32, sm_90), Kernel::Chunk(64));
    assert_eq!(chosen(1000, 128, 128, Format::F32, sm_80), Kernel::Chunk(64));
    assert_eq!(chosen(1000, 128, 128, Format::F32, sm_120), Kernel::Chunk(32));
    assert_eq!(chosen(1000, 256, 256, Format::F32, sm_90), Kernel::Chunk(32));
    assert_eq!(chosen(1000, 256, 256, Format::F32, sm_120), Kernel::Recurrent);
    for limit in [sm_80, sm_90, sm_120] {
        assert_eq!(chosen(1000, 128, 128, Format::Bf16, limit), Kernel::Mma);
    }
    assert_eq!(chosen(1000, 128, 72, Format::Bf16, sm_90), Kernel::Chunk(64));
    assert_eq!(chosen(1000, 64, 64, Format::F16, sm_90), Kernel::Chunk(64));
}
