//! The promise: an output is there whole or not at all, and nothing else is left.

mod common;

use common::{HINTED, KERNEL, Scene, after, files, stderr};
use hint_record::stages::{OPTIMIZED, RESOLVED};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

#[test]
fn the_output_is_all_that_is_left() {
    let scene = Scene::with(HINTED);
    scene.link(&["-O3"]).unwrap();
    assert_eq!(scene.files(), ["a.o", "out.ptx"]);
    let mode = fs::metadata(scene.output()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "everybody may read it");
}

#[test]
fn intermediates_are_kept_on_request() {
    let scene = Scene::with(HINTED);
    let folder = scene.path("stages/of/this");
    scene.link(&["-O3", "--keep-intermediates", folder.to_str().unwrap()]).unwrap();
    assert_eq!(scene.files(), ["a.o", "out.ptx", "stages"]);
    let [linked, resolved, optimized] = ["delete-unused", RESOLVED, OPTIMIZED].map(|pass| after(&folder, pass));
    assert!(linked.contains("call void @__latch_loop_enter") && !linked.contains("!llvm.loop"));
    assert!(!resolved.contains("__latch_loop") && resolved.contains("!llvm.loop"));
    assert!(resolved.contains("alloca") == linked.contains("alloca"), "nothing is optimized yet");
    assert!(optimized.contains("latch.site"));
}

#[test]
fn a_failed_link_leaves_the_old_output() {
    let scene =
        Scene::with("define ptx_kernel void @k() {\n  call void @missing()\n  ret void\n}\ndeclare void @missing()");
    fs::write(scene.output(), "the old output").unwrap();
    assert_eq!(scene.run(&[]).status.code(), Some(1));
    assert_eq!(fs::read_to_string(scene.output()).unwrap(), "the old output");
    assert_eq!(scene.files(), ["a.o", "out.ptx"]);
}

#[test]
fn an_output_that_is_there_is_replaced() {
    let scene = Scene::with(KERNEL);
    fs::write(scene.output(), "the old output").unwrap();
    fs::set_permissions(scene.output(), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(scene.link(&[]).unwrap().contains(".entry k("));
}

#[test]
fn an_output_that_cannot_be_written_is_named_and_nothing_is_left() {
    let scene = Scene::with(KERNEL);
    for output in ["nowhere/out.ptx", "a.o/out.ptx"] {
        let mut args = scene.args(&[]);
        args.output = scene.path(output);
        let message = bitcode_linker::link(&args).unwrap_err().to_string();
        assert!(message.starts_with(&format!("cannot write {}: ", args.output.display())), "{message}");
        assert_eq!(scene.files(), ["a.o"]);
    }
    fs::create_dir(scene.path("folder")).unwrap();
    let mut args = scene.args(&[]);
    args.output = scene.path("folder");
    let message = bitcode_linker::link(&args).unwrap_err().to_string();
    assert!(message.contains("is a directory"), "{message}");
    assert_eq!(scene.files(), ["a.o", "folder"]);
    assert_eq!(files(&scene.path("folder")), [""; 0]);
}

#[test]
fn a_report_that_cannot_be_written_takes_the_output_with_it() {
    let scene = Scene::with(KERNEL);
    fs::write(scene.output(), "the old output").unwrap();
    let output = scene.run(&["--report", scene.path("nowhere/report.json").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("latch-link: cannot write "), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(scene.output()).unwrap(), "the old output");
    assert_eq!(scene.files(), ["a.o", "out.ptx"]);
}

#[test]
fn an_output_without_folder_goes_to_the_current_one() {
    let scene = Scene::with(KERNEL);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_latch-link"))
        .args(["a.o", "-o", "here.ptx", "--target-cpu", "sm_90"])
        .current_dir(scene.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(scene.files(), ["a.o", "here.ptx"]);
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let scene = Scene::with(KERNEL);
    let mut args = scene.args(&[]);
    // Not `/dev/null` itself: a test must not be able to harm it.
    let fifo = scene.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    args.output.clone_from(&fifo);
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read_to_string(fifo).unwrap()
    });
    bitcode_linker::link(&args).unwrap();
    assert!(reader.join().unwrap().contains(".entry k("));
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
}
