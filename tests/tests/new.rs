//! The promise: a new kernel crate builds, passes its audit, and can be run, as it is.

use latch_tests::{latch, shown};

#[test]
fn a_new_crate_is_audited_and_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = latch(folder.path(), &["new", "my-kernels"]);
    assert!(made.status.success(), "{}", shown(&made));
    let folder = folder.path().join("my-kernels");

    let audited = latch(&folder, &["audit", "--arch", "sm_90", "--hints", "llvm"]);
    assert!(audited.status.success(), "{}", shown(&audited));
    assert!(String::from_utf8_lossy(&audited.stdout).contains("src/lib.rs:18  nounroll"), "{}", shown(&audited));

    let run = ["run", "window_sums", "--arch", "sm_90", "--hints", "llvm", "--grid", "1", "--block", "32"];
    let ran = latch(
        &folder,
        &[&run[..], &["--arg", "f32[32]=0.5", "--arg", "32", "--arg", "f32[32]:sums.npy", "--arg", "32"]].concat(),
    );
    assert!(ran.status.success(), "{}", shown(&ran));
    assert!(folder.join("sums.npy").is_file());
}

#[test]
fn nothing_is_made_where_it_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |arguments: &[&str]| {
        let output = latch(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["new", "9lives"]).contains("`9lives` is no name for a crate: take letters, digits, `-` and `_`"));
    std::fs::create_dir(folder.path().join("there")).expect("a folder");
    assert!(refused(&["new", "there"]).contains("is there already: name a folder that is not"));
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder is there").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
