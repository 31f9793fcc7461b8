//! The promise: everything that rustc passes to the linker of an llbc target is understood.

mod common;

use bitcode_linker::{Args, OptLevel};
use common::{KERNEL, Scene, run, stderr};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

fn read(line: &str) -> Args {
    Args::read(std::iter::once("latch-link").chain(line.split_whitespace()).map(OsString::from)).unwrap()
}

#[test]
fn a_command_line_of_rustc_is_read() {
    let args = read(
        "--export-symbol taps --export-symbol noloop /t/k.k.0-cgu.0.rcgu.o /lib/libcore-1.rlib /lib/libcompiler_builtins-2.rlib \
         -L /t/raw-dylibs --target nvptx64-nvidia-cuda --target-cpu sm_90 --target-feature=+ptx86,+x -L /lib/self-contained \
         -o /t/k.ptx -O3 --debug --lto",
    );
    assert_eq!(args.export_symbol, ["taps", "noloop"]);
    let inputs = ["/t/k.k.0-cgu.0.rcgu.o", "/lib/libcore-1.rlib", "/lib/libcompiler_builtins-2.rlib"];
    assert_eq!(args.inputs, inputs.map(PathBuf::from));
    assert_eq!(args.library_path, ["/t/raw-dylibs", "/lib/self-contained"].map(PathBuf::from));
    assert_eq!((args.target.as_str(), args.target_cpu.as_str()), ("nvptx64-nvidia-cuda", "sm_90"));
    assert_eq!(args.target_feature, "+ptx86,+x");
    assert_eq!(args.output, Path::new("/t/k.ptx"));
    assert_eq!(args.optimize, OptLevel::Aggressive);
    assert!(args.debug && args.lto);
}

#[test]
fn every_optimization_level_of_rustc_is_known() {
    let levels = [
        ("-O0", OptLevel::None),
        ("-O1", OptLevel::Less),
        ("-O2", OptLevel::More),
        ("-O3", OptLevel::Aggressive),
        ("-Os", OptLevel::Size),
        ("-Oz", OptLevel::SizeMin),
        ("", OptLevel::None),
    ];
    for (option, level) in levels {
        assert_eq!(read(&format!("a.o -o b --target-cpu sm_90 {option}")).optimize, level);
    }
}

#[test]
fn features_may_follow_as_an_argument_of_their_own() {
    assert_eq!(read("a.o -o b --target-cpu sm_90 --target-feature -ptx70").target_feature, "-ptx70");
}

#[test]
fn long_command_lines_come_in_a_file() {
    let scene = Scene::new().object("with blank.o", KERNEL).object("with\\backslash.o", "");
    let escape = |argument: &OsString| argument.to_str().unwrap().replace('\\', "\\\\").replace(' ', "\\ ");
    let lines: Vec<String> = scene.command_line(&["-O3", "--export-symbol", "k"]).iter().map(escape).collect();
    let file = scene.path("arguments");
    fs::write(&file, lines.join("\n") + "\n").unwrap();

    let output = run(&[format!("@{}", file.display()).into()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read_to_string(scene.output()).unwrap().contains(".visible .entry k("));
}

#[test]
fn options_beside_the_file_count_too() {
    let scene = Scene::with(KERNEL);
    let file = scene.path("arguments");
    fs::write(&file, "--target-cpu\nsm_80\n-O2").unwrap();
    let args =
        Args::read(["latch-link", "a.o", &format!("@{}", file.display()), "-o", "b"].map(OsString::from)).unwrap();
    assert_eq!((args.target_cpu.as_str(), args.optimize), ("sm_80", OptLevel::More));
}

#[test]
fn a_file_of_arguments_that_is_not_there_is_named() {
    let output = run(&["@/nowhere/arguments".into()]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.starts_with("latch-link: cannot read /nowhere/arguments: No such file"), "{message}");
}

#[test]
fn what_is_not_understood_ends_with_claps_message_and_code_2() {
    let scene = Scene::with(KERNEL);
    for (more, message) in [
        (vec!["--fatbin"], "unexpected argument '--fatbin' found"),
        (vec!["-O7"], "invalid value '7' for '-O <OPTIMIZE>'"),
        (vec!["-o", "twice"], "the argument '--output <OUTPUT>' cannot be used multiple times"),
    ] {
        let output = scene.run(&more);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        let text = stderr(&output);
        assert!(text.contains(message) && text.contains("try '--help'"), "{text}");
    }
    let output = run(&["-o".into(), "x".into(), "--target-cpu".into(), "sm_90".into()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("<INPUTS>..."), "{}", stderr(&output));
    assert_eq!(scene.files(), ["a.o"]);
}

#[test]
fn help_and_version_are_no_errors() {
    for option in ["--help", "--version"] {
        let output = run(&[option.into()]);
        assert!(output.status.success() && output.stderr.is_empty());
        assert!(String::from_utf8_lossy(&output.stdout).contains("latch-link"));
    }
}

#[test]
fn a_link_that_succeeds_says_nothing() {
    let output = Scene::with(common::HINTED).run(&["-O3", "--debug", "--lto", "-L", "/nowhere"]);
    assert!(output.status.success());
    assert_eq!((stderr(&output).as_str(), output.stdout.len()), ("", 0));
}

#[test]
fn a_link_that_fails_says_one_sentence_with_code_1() {
    let output = Scene::with("").run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "latch-link: no object among the inputs holds a kernel: mark one with `#[kernel]`\n");
}
