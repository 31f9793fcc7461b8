//! Driving nvdisasm: what it refuses, and modules out of the ordinary.

mod common;

use common::{disassemble, nvdisasm, ptxas};
use sass::{AssembleOptions, Cubin, Error, Nvdisasm, Program};

fn cubin(image: &[u8]) -> Cubin {
    let mut cubin = common::assemble("switch.ptx", "sm_90");
    cubin.image = image.to_vec();
    cubin
}

#[test]
fn what_is_no_cubin_is_refused_with_nvdisasm_s_words() {
    let whole = common::assemble("switch.ptx", "sm_90").image;
    for image in [&b"hello\n"[..], &[], &whole[..whole.len() / 2]] {
        let error = nvdisasm().disassemble(&cubin(image)).expect_err("refused");
        assert!(matches!(error, Error::NotDisassembled { .. }), "{error:?}");
        assert!(error.to_string().starts_with("nvdisasm refused the cubin for sm_90: "), "{error}");
    }
}

#[test]
fn a_missing_nvdisasm_is_one_sentence() {
    let error = Nvdisasm::new("/nowhere/nvdisasm").disassemble(&cubin(&[])).expect_err("no nvdisasm");
    assert!(error.to_string().starts_with("cannot run nvdisasm at `/nowhere/nvdisasm`"), "{error}");
}

#[test]
fn a_program_that_is_not_nvdisasm_is_told() {
    let error = Nvdisasm::new("true").disassemble(&cubin(&[])).expect_err("no text");
    assert!(matches!(error, Error::Parse(_)), "{error:?}");
    let error = Nvdisasm::new("false").disassemble(&cubin(&[])).expect_err("no text");
    assert!(matches!(error, Error::Broken { .. }), "{error:?}");
}

#[test]
fn ptx_without_kernels_gives_a_module_without_kernels() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { ret; }\n";
    let cubin = ptxas().assemble(ptx, "sm_90", &AssembleOptions::default()).expect("assembled");
    let module = disassemble(&cubin);
    assert_eq!(module.arch, "sm_90");
    assert_eq!(Program::of(&module).kernels().count(), 0);
    assert_eq!(common::report(&cubin).kernels, []);
}

#[test]
fn names_with_dollars_and_dots_survive() {
    let name = "_ZN4core3ptr13drop$LT$T$GT$17h0123456789abcdefE";
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .func {name}_f(.param .u64 p) {{ .reg .b64 %rd1; ld.param.u64 %rd1, [p]; st.u64 [%rd1], 1; ret; }}\n\
         .visible .entry {name}(.param .u64 p) {{ .reg .b64 %rd1; .param .b64 a; ld.param.u64 %rd1, [p]; \
         st.param.b64 [a], %rd1; call {name}_f, (a); ret; }}\n"
    );
    let cubin = ptxas().assemble(&ptx, "sm_90", &AssembleOptions::default()).expect("assembled");
    let module = disassemble(&cubin);
    let program = Program::of(&module);
    let kernel = program.kernel(name).expect("the kernel");
    let names: Vec<&str> = kernel.functions().map(|function| function.symbol.short_name(name)).collect();
    assert_eq!(names, [name.to_owned(), format!("{name}_f")]);
    assert_eq!(common::report(&cubin).kernels[0].sass.calls, 1);
}

#[test]
fn the_release_is_known() {
    assert!(!nvdisasm().version().expect("a version").is_empty());
}
