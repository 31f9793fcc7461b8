//! The promise: a hint holds at every optimization level, and is optimized around once.

mod common;

use common::{HINTED, Scene};

#[test]
fn every_level_keeps_each_hinted_loop_with_one_pragma() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"] {
        let (ptx, report) = Scene::with(HINTED).report(&[level]);
        assert_eq!(ptx.matches(".pragma \"nounroll\"").count(), 2, "{level}:\n{ptx}");
        for kernel in &report.kernels {
            assert_eq!((kernel.marked_latches, kernel.pragmas), (1, 1), "{level}: {}", kernel.name);
        }
        assert!(report.hints.iter().all(|hint| hint.left.len() == 1), "{level}: {report:?}");
        assert_eq!(ptx.matches("ld.").count(), ptx.matches("ld.param").count() + 2, "{level}: a load a loop\n{ptx}");
    }
}

#[test]
fn without_hint_the_loops_are_unrolled() {
    let is_call = |line: &&str| !line.contains("call void @__latch");
    let plain: Vec<&str> = HINTED.lines().filter(is_call).collect();
    let (ptx, report) = Scene::with(&plain.join("\n")).report(&["-O3"]);
    assert_eq!(report.hints.len(), 0);
    assert_eq!(ptx.matches(".pragma").count(), 0);
    assert_eq!(ptx.matches("ld.").count(), ptx.matches("ld.param").count() + 8, "{ptx}");
}

#[test]
fn levels_differ() {
    let size = |level| Scene::with(HINTED).link(&[level]).unwrap().lines().count();
    assert!(size("-O0") > size("-O2"));
}
