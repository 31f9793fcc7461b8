//! The promise: a link is a list of passes that can be seen, timed, verified and, where that does no harm, skipped.

mod common;

use common::{HINTED, KERNEL, Scene, after, files, stderr};
use std::fs;

/// A sum of four turns of which LLVM leaves nothing of a loop.
const UNROLLED: &str = "define ptx_kernel void @k(ptr %x) {\nentry:\n  br label %head\nhead:\n\
    %i = phi i32 [ 0, %entry ], [ %next, %head ]\n  %at = getelementptr float, ptr %x, i32 %i\n\
    store float 1.0, ptr %at\n  %next = add i32 %i, 1\n  %go = icmp ult i32 %next, 4\n\
    br i1 %go, label %head, label %exit\nexit:\n  ret void\n}\n";

fn stores(ptx: &str) -> usize {
    ptx.lines().filter(|line| line.trim_start().starts_with("st.")).count()
}

#[test]
fn an_optional_pass_can_be_skipped() {
    let scene = Scene::with(UNROLLED);
    let stores = |more: &[&str]| stores(&scene.link(more).unwrap());
    assert_eq!(stores(&["-O3", "--verify-each"]), 4);
    assert_eq!(stores(&["-O3", "--skip-pass", "optimize", "--verify-each"]), 1);
    for pass in ["contract", "explain", "place-latches"] {
        let ptx = Scene::with(HINTED).link(&["-O3", "--fp-contract", "on", "--skip-pass", pass]).unwrap();
        assert!(ptx.contains(".pragma \"nounroll\""), "{pass}: {ptx}");
    }
}

#[test]
fn without_optimization_the_report_says_so() {
    let hinted = HINTED.replace("i64 28, i64 1", "i64 28, i64 0");
    let skip = ["-O3", "--skip-pass", "optimize"];
    let (_, skipped) = Scene::with(&hinted).report(&skip);
    let (_, unoptimized) = Scene::with(&hinted).report(&["-O0"]);
    let reasons = |report: &hint_record::LinkReport| {
        format!("{:?}", report.hints.iter().map(|hint| &hint.reason).collect::<Vec<_>>())
    };
    assert_eq!(reasons(&skipped), reasons(&unoptimized));
}

#[test]
fn a_pass_that_is_needed_cannot_be_skipped() {
    let message = Scene::with(KERNEL).refused(&["--skip-pass", "resolve-hints"]);
    let expected = "the pass `resolve-hints` cannot be skipped: nobody defines the functions that mark a hint";
    assert_eq!(message, expected);
    let message = Scene::with(KERNEL).refused(&["--skip-pass", "mark-convergent", "--skip-pass", "optimize"]);
    assert!(message.starts_with("the pass `mark-convergent` cannot be skipped: the optimizer could"), "{message}");
}

#[test]
fn an_unknown_pass_gives_the_list() {
    let message = Scene::with(KERNEL).refused(&["--skip-pass", "optimise"]);
    assert!(message.starts_with("this link has no pass `optimise` to skip; it has merge, internalize, "), "{message}");
    assert!(message.ends_with(", print, find-printed-loops, report"), "{message}");
    let message = Scene::with(KERNEL).refused(&["--skip-pass", "adapt-for-libnvvm"]);
    assert!(message.starts_with("this link has no pass `adapt-for-libnvvm`"), "another route's: {message}");
}

#[test]
fn every_pass_that_runs_is_timed() {
    let scene = Scene::with(HINTED);
    let output = scene.run(&["-O3", "--timings", "--verify-each", "--skip-pass", "explain"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stderr(&output);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["pass,", "milliseconds", "run", "keep", "verify"]);
    let passes: Vec<&str> = rows[1..].iter().map(|row| row[0]).collect();
    assert!(
        passes.starts_with(&["merge", "internalize"])
            && passes.ends_with(&["print", "find-printed-loops", "report", "all"]),
        "{table}"
    );
    assert!(!passes.contains(&"explain") && !passes.contains(&"contract"), "{table}");
    let optimize = rows.iter().find(|row| row[0] == "optimize").unwrap();
    assert!(optimize.len() == 3 && optimize[1].parse::<f64>().is_ok_and(|time| time > 0.0), "{table}");
}

/// With a cache, what a link is asked to show comes from passes that run, and what it skips is no other link's result.
#[test]
fn results_that_are_kept_are_those_of_the_same_passes() {
    let scene = Scene::with(UNROLLED);
    let cache = scene.path("cache");
    let link = |more: &[&str]| {
        let mut line = scene.command_line(&["-O3", "--identity", "test"]);
        line.extend(more.iter().map(std::ffi::OsString::from));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_latch-link"));
        let output = command.args(line).env("LATCH_CACHE", &cache).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        (stores(&fs::read_to_string(scene.output()).unwrap()), stderr(&output))
    };
    assert_eq!(link(&[]).0, 4);
    let skip = ["--skip-pass", "optimize"];
    assert_eq!(link(&skip).0, 1, "another result");
    assert_eq!((link(&[]).0, link(&skip).0), (4, 1), "both are kept");
    let folder = scene.path("kept");
    let keep = folder.to_str().unwrap();
    assert_eq!(link(&["--keep-intermediates", keep]).0, 4);
    assert!(after(&folder, "optimize").contains("store float"), "{:?}", files(&folder));
    assert!(link(&["--timings"]).1.contains("optimize"));
}
