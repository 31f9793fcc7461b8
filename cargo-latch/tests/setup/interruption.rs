//! Whatever an interrupted run leaves, the next one starts clean; and what is whole is not made again.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use cargo_latch::setup::home::{Artifact, key_of};
use cargo_latch::setup::{
    CudaTools, DeviceSysroot, Home, Progress, RustcDev, SetupError, cuda, device_sysroot, rustc_dev,
};
use cargo_latch::target::Target;

use crate::fakes::{Fake, FakePackages, NoFetch, WHOLE};
use crate::rustc_dev::with_compiler_source;

const QUIET: fn() -> Progress = Progress::silent;

fn thing(key: &str) -> Artifact {
    Artifact { name: "thing", key: key_of([key]), needs: vec!["file".into()] }
}

fn write(folder: &Path) -> Result<(), SetupError> {
    fs::write(folder.join("file"), "made").unwrap();
    Ok(())
}

/// Leaves of an artifact what a run leaves that is killed while making it, and what one leaves that is killed while
/// removing an older attempt.
fn leave_half_made(home: &Home, artifact: &Artifact) {
    let folder = home.folder(artifact);
    let partial = folder.with_file_name(format!("{}.partial", folder.file_name().unwrap().to_str().unwrap()));
    for left in [partial, folder] {
        fs::create_dir_all(left.join("lib")).unwrap();
        fs::write(left.join("lib/junk"), "junk").unwrap();
    }
}

fn assert_clean(home: &Home, folder: &Path) {
    assert!(!folder.join("lib/junk").exists(), "the half-made folder was used");
    let left: Vec<_> = fs::read_dir(home.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().contains(".partial")), "{left:?}");
}

#[test]
fn a_half_made_sysroot_is_made_anew() {
    let fake = Fake::with_toolchain();
    leave_half_made(&fake.home, &device_sysroot::artifact(&fake.toolchain(), Target::Nvptx));
    assert!(DeviceSysroot::find(&fake.home, &fake.toolchain(), Target::Nvptx).is_none());
    let sysroot = DeviceSysroot::ensure(&fake.home, &fake.toolchain(), Target::Nvptx, &QUIET()).unwrap();
    assert_clean(&fake.home, &sysroot.folder);
}

#[test]
fn half_unpacked_tools_are_unpacked_anew() {
    let fake = Fake::bare();
    leave_half_made(&fake.home, &cuda::artifact());
    assert!(CudaTools::find(&fake.home, &fake.machine).is_none());
    CudaTools::ensure(&fake.home, &fake.machine, &WHOLE, &QUIET()).unwrap();
    assert_clean(&fake.home, &fake.home.folder(&cuda::artifact()));
    CudaTools::ensure(&fake.home, &fake.machine, &NoFetch, &QUIET()).unwrap();
}

#[test]
fn a_half_made_rustc_dev_is_made_anew() {
    let fake = with_compiler_source();
    leave_half_made(&fake.home, &rustc_dev::artifact(&fake.toolchain()));
    assert!(RustcDev::find(&fake.home, &fake.toolchain()).is_none());
    let dev = RustcDev::ensure(&fake.home, &fake.machine, &fake.toolchain(), &FakePackages, &QUIET()).unwrap();
    assert_clean(&fake.home, &dev.sysroot);
}

#[test]
fn a_step_that_fails_leaves_nothing() {
    let fake = Fake::bare();
    let failed = fake.home.ensure(&thing("1"), &QUIET(), |folder| {
        write(folder)?;
        Err(SetupError::NoHome)
    });
    assert!(matches!(failed, Err(SetupError::NoHome)));
    let left: Vec<_> = fs::read_dir(fake.home.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["thing.lock"]);
}

#[test]
fn a_step_that_makes_less_than_it_should_says_what_is_not_there() {
    let fake = Fake::bare();
    let message = fake.home.ensure(&thing("1"), &QUIET(), |_| Ok(())).unwrap_err().to_string();
    assert!(message.starts_with("thing is incomplete: file was not made; remove "), "{message}");
    assert!(fake.home.find(&thing("1")).is_none());
}

#[test]
fn another_key_is_another_artifact_and_the_old_one_is_stale() {
    let fake = Fake::bare();
    let old = fake.home.ensure(&thing("1"), &QUIET(), write).unwrap();
    let new = fake.home.ensure(&thing("2"), &QUIET(), write).unwrap();
    assert_ne!(old, new);
    assert_eq!(fake.home.stale(&thing("2")), [old]);
}

#[test]
fn a_stamp_of_another_key_in_the_same_folder_does_not_count() {
    let fake = Fake::bare();
    let folder = fake.home.ensure(&thing("1"), &QUIET(), write).unwrap();
    fs::write(folder.join(".complete"), "of something else").unwrap();
    assert!(fake.home.find(&thing("1")).is_none());
}

#[test]
fn a_needed_file_that_vanished_or_is_empty_is_made_again() {
    let fake = Fake::bare();
    let folder = fake.home.ensure(&thing("1"), &QUIET(), write).unwrap();
    for damage in [|file: &Path| fs::remove_file(file).unwrap(), |file: &Path| fs::write(file, "").unwrap()] {
        damage(&folder.join("file"));
        fake.home.ensure(&thing("1"), &QUIET(), write).unwrap();
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "made");
    }
}

#[test]
fn a_file_that_was_changed_is_made_again_whatever_file_it_is() {
    let fake = Fake::bare();
    let made = |folder: &Path| {
        fs::write(folder.join("other"), "other").unwrap();
        write(folder)
    };
    let folder = fake.home.ensure(&thing("1"), &QUIET(), made).unwrap();
    for file in ["file", "other"] {
        let whole = fs::read_to_string(folder.join(file)).unwrap();
        for damage in [whole.to_uppercase(), whole.clone() + "more"] {
            fs::write(folder.join(file), damage).unwrap();
            assert!(fake.home.find(&thing("1")).is_none());
            assert!(fake.home.looking().find(&thing("1")).is_none());
            fake.home.ensure(&thing("1"), &QUIET(), made).unwrap();
            assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), whole);
        }
    }
    fs::remove_file(folder.join("other")).unwrap();
    assert!(fake.home.find(&thing("1")).is_none());
}

#[test]
fn a_file_that_was_only_touched_is_as_it_was() {
    let fake = Fake::bare();
    let folder = fake.home.ensure(&thing("1"), &QUIET(), write).unwrap();
    fs::write(folder.join("file"), "made").unwrap();
    fake.home.ensure(&thing("1"), &QUIET(), |_| panic!("it is whole")).unwrap();
}

#[test]
fn what_an_older_latch_made_gets_a_manifest() {
    let fake = Fake::bare();
    let folder = fake.home.ensure(&thing("1"), &QUIET(), write).unwrap();
    let manifest = folder.join(".manifest");
    fs::remove_file(&manifest).unwrap();
    assert_eq!(fake.home.looking().find(&thing("1")), Some(folder.clone()));
    assert!(!manifest.exists(), "who only looks writes nothing");
    assert_eq!(fake.home.find(&thing("1")), Some(folder));
    assert!(manifest.exists());
}

#[test]
fn runs_at_once_make_a_thing_once() {
    const RUNS: usize = 8;
    let fake = Fake::bare();
    let (made, start) = (AtomicUsize::new(0), Barrier::new(RUNS));
    std::thread::scope(|scope| {
        for _ in 0..RUNS {
            scope.spawn(|| {
                start.wait();
                let folder = fake.home.ensure(&thing("1"), &QUIET(), |folder| {
                    made.fetch_add(1, Ordering::Relaxed);
                    write(folder)
                });
                assert!(folder.unwrap().join("file").exists());
            });
        }
    });
    assert_eq!(made.into_inner(), 1);
}

#[test]
fn keys_keep_parts_apart() {
    assert_ne!(key_of(["ab", "c"]), key_of(["a", "bc"]));
    assert_eq!(key_of(["ab", "c"]), key_of(["ab", "c"]));
}
