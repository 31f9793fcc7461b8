//! What a command line asks for: scalars by the parameter's type, arrays from and to files, nothing written on failure.

use emulator::npy::Array;
use emulator::{Command, CommandError, Config, Shape, parse_dims};

const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 a) {\n\
    .reg .b64 %d<5>; .reg .b32 %t; .reg .f32 %f<4>;\nld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.f32 %f1, [a];\n\
    mov.u32 %t, %tid.x; mul.wide.u32 %d3, %t, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n\
    ld.f32 %f2, [%d1]; mul.rn.f32 %f3, %f2, %f1; st.f32 [%d2], %f3; ret; }";

fn command(block: u32, args: &[String]) -> Command {
    Command { kernel: String::new(), shape: Shape::line(1, block), args: args.to_vec(), config: Config::default() }
}

#[test]
fn arrays_in_and_out() {
    let dir = std::env::temp_dir().join(format!("emulator-command-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (x, y) = (dir.join("x.npy"), dir.join("y.npy"));
    let bytes = (0..8).flat_map(|i| (i as f32).to_le_bytes()).collect();
    Array { dtype: "<f4".into(), shape: vec![2, 4], bytes }.write(&x).unwrap();
    let args = [x.display().to_string(), format!("f32[8]:{}", y.display()), "2.5".into()];
    // Four threads fill half of it: an error, and no file.
    let e = command(4, &args).run(PTX).unwrap_err();
    assert!(e.to_string().contains("byte 16 was never written"), "{e}");
    assert!(!y.exists());
    let report = command(8, &args).run(PTX).unwrap();
    assert_eq!(report.counts.total.global_bytes, 64);
    let out = Array::read(&y).unwrap();
    assert_eq!(out.shape, [8]);
    assert_eq!(out.bytes, (0..8).flat_map(|i| (i as f32 * 2.5).to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn arguments_that_make_no_sense() {
    let cases: [(&[&str], &str); 7] = [
        (&["f32[8", "f32[8]", "1"], "`]` is missing"),
        (&["f32[x]", "f32[8]", "1"], "must be numbers"),
        (&["f32[8]=1", "f32[8]x", "1"], "after the brackets"),
        (&["f32[8]=1", "f32[8]", "one"], "does not fit the parameter"),
        (&["f32[8]=1", "f32[8]", "u32:1"], "the parameter is .f32"),
        (&["f32[99999999999999]", "f32[8]", "1"], "at most"),
        (&["/nowhere/x.npy", "f32[8]", "1"], "nowhere"),
    ];
    for (args, want) in cases {
        let args: Vec<String> = args.iter().map(|s| (*s).to_owned()).collect();
        let e = command(8, &args).run(PTX).unwrap_err().to_string();
        assert!(e.contains(want), "{args:?}: {e}");
    }
    assert!(matches!(command(1, &[]).run(".version 8.0"), Err(CommandError::WhichKernel { .. })));
}

#[test]
fn dimensions() {
    assert_eq!(parse_dims("4"), Ok([4, 1, 1]));
    assert_eq!(parse_dims("4, 2,3"), Ok([4, 2, 3]));
    assert_eq!(parse_dims("16x8"), Ok([16, 8, 1]));
    for bad in ["", "1,2,3,4", "-1", "a"] {
        assert!(parse_dims(bad).is_err(), "{bad}");
    }
}
