//! The promise: `cargo latch run` computes what the kernel says, from arrays to arrays; names a fault's place, with
//! exit code 1; and leaves no output where anything failed.

use std::path::Path;

use emulator::npy::Array;
use latch_tests::{checkout, latch, shown};

const TAPS: [&str; 9] = ["run", "taps_rolled", "-p", "nounroll", "--hints", "llvm", "--grid", "2", "--block=64"];

const STORE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry store(.param .u64 y) {\n\
    .reg .b64 %d; .reg .b32 %t;\nld.param.u64 %d, [y]; mov.u32 %t, %tid.x; st.global.u32 [%d], %t; ret;\n}\n";

fn floats(file: &Path) -> Vec<f32> {
    let array = Array::read(file).expect("the output is there");
    assert_eq!(array.dtype, "<f4");
    array.bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
}

fn write(file: &Path, values: impl Iterator<Item = f32>) {
    let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    let array = Array { dtype: "<f4".into(), shape: vec![bytes.len() / 4], bytes };
    array.write(file).expect("the input can be written");
}

#[test]
fn arrays_go_in_and_come_out_and_lines_are_counted() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [x, y] = ["x.npy", "y.npy"].map(|name| folder.path().join(name));
    write(&x, (0..131).map(|i| i as f32));
    let (x, out) = (x.display().to_string(), format!("f32[128]:{}", y.display()));
    let ran =
        latch(&checkout(), &[&TAPS[..], &["--arg", "f32[4]=0.5", "--arg", &x, "--arg", &out, "--by-line"]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", shown(&ran));
    let wanted: Vec<f32> = (0..128).map(|i| 2.0 * i as f32 + 3.0).collect();
    assert_eq!(floats(&y), wanted);
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(printed.contains("global memory: 4608 bytes"), "{printed}");
    let line = printed.lines().find(|line| line.contains("  4096 ")).expect("a line loads both arrays");
    assert!(line.contains("  kernels/nounroll/src/taps.rs:"), "{line}");
}

#[test]
fn a_fault_has_exit_code_1_and_its_source_line_and_leaves_no_output() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let out = format!("f32[128]:{}", folder.path().join("y.npy").display());
    let ran = latch(&checkout(), &[&TAPS[..], &["--arg", "f32[4]=1", "--arg", "f32[130]=1", "--arg", &out]].concat());
    let said = shown(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("error: kernel `taps_rolled`") && said.contains("(kernels/nounroll/src/taps.rs:"), "{said}");
    assert!(said.contains("block (1, 0, 0), thread (63, 0, 0): out of bounds"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder can be read").count(), 0);
}

#[test]
fn what_cannot_be_run_has_exit_code_2() {
    let cases: [(&[&str], &str); 4] = [
        (
            &["--arg", "f32[4]=1"],
            "takes 3 arguments, 1 were given; its parameters are .u64 pointer, .u64 pointer, .u64 pointer",
        ),
        (&["--arg", "f32[4]=1", "--arg", "f32[130]=1", "--arg", "7"], "give a .npy file or a buffer"),
        (&["--arch", "sm_80,sm_90"], "one architecture is run at a time"),
        (&["--ptx", "a.ptx"], "cannot be used with"),
    ];
    for (more, wanted) in cases {
        let ran = latch(&checkout(), &[&TAPS[..], more].concat());
        let said = shown(&ran);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn ptx_from_a_file_needs_no_kernel_crate_and_no_name() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("store.ptx"), STORE).expect("written");
    let run = |more: &[&str]| latch(folder.path(), &[&["run", "--ptx", "store.ptx", "--grid", "1"], more].concat());
    let ran = run(&["--block", "1", "--arg", "u32[1]:y.npy", "--json"]);
    assert_eq!(ran.status.code(), Some(0), "{}", shown(&ran));
    let counts: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("the counts are JSON");
    assert_eq!(counts["total"]["global_bytes"], 4);
    assert_eq!(counts["total"]["flops"], 0);
    assert_eq!(Array::read(&folder.path().join("y.npy")).expect("written").bytes, [0; 4]);

    let endless = STORE.replace("ret;", "again: bra again;");
    std::fs::write(folder.path().join("store.ptx"), endless).expect("written");
    let limited = run(&["--block", "1", "--arg", "u32[1]", "--step-limit", "3"]);
    assert_eq!(limited.status.code(), Some(1), "{}", shown(&limited));
    assert!(shown(&limited).contains("step limit"), "{}", shown(&limited));

    std::fs::write(folder.path().join("store.ptx"), &STORE[..100]).expect("written");
    let cut = run(&["--block", "1", "--arg", "u32[1]"]);
    assert_eq!(cut.status.code(), Some(2), "{}", shown(&cut));
    assert!(shown(&cut).contains("error: cannot run store.ptx: PTX line "), "{}", shown(&cut));
}
