//! The promise: a kernel can be looked at after every pass of the linker, with what a pass has changed; and what LLVM's
//! passes leave, code generation takes, for both makers' GPUs and by both routes.

use latch_tests::{checkout, fixture, latch, shown};

fn inspect(more: &[&str]) -> std::process::Output {
    let line = ["inspect", "taps_rolled", "-p", "nounroll", "--hints", "llvm"];
    latch(&checkout(), &[&line[..], more].concat())
}

#[track_caller]
fn text(more: &[&str]) -> String {
    let output = inspect(more);
    assert!(output.status.success(), "{more:?}: {}", shown(&output));
    String::from_utf8(output.stdout).expect("it is text")
}

#[track_caller]
fn refused(more: &[&str], message: &str) {
    let output = inspect(more);
    let said = shown(&output);
    assert!(!output.status.success() && said.contains(message), "{more:?}: {said}");
}

#[test]
fn a_kernel_can_be_looked_at_after_every_pass() {
    for arch in [["--arch", "sm_90"], ["--arch", "gfx942"]] {
        let llvm = |more: &[&str]| text(&[&arch, &["--emit", "llvm"], more].concat());
        assert!(llvm(&["--after", "delete-unused"]).contains("@__latch_loop_body"));
        assert_eq!(llvm(&["--after", "mark-convergent"]), llvm(&[]));
        let difference = llvm(&["--diff", "delete-unused,resolve-hints"]);
        assert!(difference.starts_with("--- delete-unused\n+++ resolve-hints\n@@ "), "{difference}");
        let has =
            |start: &str, part: &str| difference.lines().any(|line| line.starts_with(start) && line.contains(part));
        assert!(
            has("-", "@__latch_loop_body") && has("+", "!llvm.loop") && !has("+", "@__latch_loop_body"),
            "{difference}"
        );
        let nothing = "`taps_rolled` is the same after `place-shared` and `check-defined`";
        assert_eq!(llvm(&["--diff", "place-shared,check-defined"]).trim_end(), nothing);
        let optimized = |more: &[&str]| text(&[&arch[..], more].concat());
        assert_eq!(optimized(&["--emit", "llvm", "--after", "optimize"]), optimized(&["--emit", "llvm-opt"]));
    }
}

#[test]
fn a_pass_that_did_not_run_is_named_with_those_that_did() {
    refused(
        &["--emit", "llvm", "--after", "optimise"],
        "this link ran no pass `optimise`; it ran merge, internalize, ",
    );
    refused(&["--emit", "ptx", "--after", "optimize"], "give them with `--emit llvm`");
    refused(&["--emit", "llvm", "--diff", "optimize"], "`--diff` takes two passes");
}

#[test]
fn a_pass_can_be_left_out() {
    for arch in [["--arch", "sm_90"], ["--arch", "gfx942"]] {
        let more = [&arch[..], &["--emit", "llvm", "--skip-pass", "optimize"]].concat();
        refused(&[&more[..], &["--after", "optimize"]].concat(), "this link ran no pass `optimize`");
        assert!(text(&[&more[..], &["--after", "find-loops"]].concat()).contains("alloca"), "nothing is optimized");
        refused(&[&arch[..], &["--emit", "llvm", "--skip-pass", "merge"]].concat(), "`merge` cannot be skipped");
    }
}

/// A `match` over shared arrays is no table of their addresses, and a fence of the compiler no instruction.
#[test]
fn what_the_optimizer_leaves_can_be_compiled() {
    let folder = fixture("choices");
    for arch in [&["sm_90"][..], &["sm_120a", "--route", "nvvm"], &["gfx942,gfx1100"]] {
        for profile in ["release", "dev"] {
            let line = [&["build", "--hints", "llvm", "--profile", profile, "--arch"][..], arch].concat();
            let output = latch(&folder, &line);
            assert!(output.status.success(), "{line:?}: {}", shown(&output));
        }
        if arch[0].starts_with("sm_") {
            let kernel = |name| {
                let line = [&["inspect", name, "--hints", "llvm", "--emit", "ptx", "--arch"][..], arch].concat();
                shown(&latch(&folder, &line))
            };
            let (four, six, fenced) = (kernel("one_of_four"), kernel("one_of_six"), kernel("fenced"));
            assert!(four.contains("st.shared.b32") && four.contains("ld.shared.b32"), "{four}");
            assert!(six.contains("st.shared.b32") && six.contains("ld.shared.b32"), "{six}");
            assert!(!fenced.contains("membar") && !fenced.contains("fence."), "{fenced}");
        }
    }
}
