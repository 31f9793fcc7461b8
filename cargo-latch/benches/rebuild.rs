//! What Latch costs a developer, as ratios within one run: `cargo bench -p cargo-latch`, after
//! `cargo build --release -p cargo-latch -p bitcode-linker`.
//!
//! | row | Latch | against | at most |
//! |---|---|---|---|
//! | edit to PTX | `build --emit ptx` after a one-line change | `cargo rustc … -- --emit=asm`, which optimizes but does not link | 1.3 |
//! | nothing to do | `build` and `audit`, one and three GPUs | a no-op `cargo build` of the same crate, for the same target | 1.5, and .05 s |
//! | many loops | a function with 1,000 hinted loops, to PTX | the same function without hints by plain cargo | 1.3 |
//!
//! Medians of several runs in turn; noise of the machine hits both sides. The crates are copies outside the workspace.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cargo_latch::setup::{self, Progress, Tools};

const RUNS: usize = 11;

fn main() {
    let tools = setup::ensure_basic(&Progress::on_stderr()).expect("set-up works");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the checkout");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let kernels = Copy::of(checkout, &folder.path().join("nounroll"));

    let (plain, latch) = in_turn(
        |run| timed(&kernels.folder, Some(&|| kernels.edit(run)), &mut plain_cargo(&tools, &kernels.folder)),
        |run| timed(&kernels.folder, Some(&|| kernels.edit(run)), &mut latch_build(&kernels.folder)),
    );
    report("edit to PTX", plain, latch);
    for (name, arguments) in [
        ("build, 1 GPU, nothing to do", &["build", "--arch", "sm_90"][..]),
        ("build, 3 GPUs, nothing to do", &["build", "--arch", "sm_80,sm_90,sm_120a"]),
        ("audit, 1 GPU, nothing to do", &["audit", "--arch", "sm_90"]),
        ("audit, 3 GPUs, nothing to do", &["audit", "--arch", "sm_80,sm_90,sm_120a"]),
    ] {
        let (plain, latch) = in_turn(
            |_| timed(&kernels.folder, None, &mut plain_build(&tools, &kernels.folder)),
            |_| timed(&kernels.folder, None, &mut command(&kernels.folder, arguments)),
        );
        report(name, plain, latch);
    }
    many_loops(&tools, checkout, &folder.path().join("many"));
}

/// A function with a thousand hinted loops, and five thousand, which must come to an end.
fn many_loops(tools: &Tools, checkout: &Path, folder: &Path) {
    let of = |count: usize, hint: &str| {
        let mut text =
            "#![cfg_attr(target_arch = \"nvptx64\", no_std, feature(abi_gpu_kernel))]\n#[device_std::kernel]\n\
                        pub unsafe fn many(x: *mut u32, n: u32) {\n"
                .to_owned();
        for at in 0..count {
            writeln!(
                text,
                "    {hint}\n    for i in 0..n {{ unsafe {{ x.add((i ^ {at}) as usize).write_volatile(i) }} }}"
            )
            .expect("a string can be written to");
        }
        text + "}\n"
    };
    write_crate(checkout, folder, "many");
    let write = |text: String| fs::write(folder.join("src/lib.rs"), text).expect("written");
    let mut times = (Vec::new(), Vec::new());
    for run in 0..3 {
        write(of(1000 + run, ""));
        times.0.push(timed(folder, None, &mut plain_cargo(tools, folder)));
        write(of(1000 + run, "#[nounroll]"));
        times.1.push(timed(folder, None, &mut latch_build(folder)));
    }
    report("1,000 loops", median(times.0), median(times.1));
    write(of(5000, "#[nounroll]"));
    println!("{:<30} {:8.0} ms", "5,000 loops", timed(folder, None, &mut latch_build(folder)).as_secs_f64() * 1e3);
}

/// Both sides by turns; the first turn compiles the dependencies too and does not count.
fn in_turn(mut plain: impl FnMut(usize) -> Duration, mut latch: impl FnMut(usize) -> Duration) -> (Duration, Duration) {
    let times: Vec<(Duration, Duration)> = (0..=RUNS).map(|run| (plain(run), latch(run))).skip(1).collect();
    let (plain, latch) = times.into_iter().unzip();
    (median(plain), median(latch))
}

fn report(name: &str, plain: Duration, latch: Duration) {
    let (plain, latch) = (plain.as_secs_f64(), latch.as_secs_f64());
    println!("{name:<30} plain {:6.0} ms, latch {:6.0} ms, ratio {:5.2}", plain * 1e3, latch * 1e3, latch / plain);
}

/// A copy of the crate outside the workspace, so that the checkout is left alone.
struct Copy {
    folder: PathBuf,
    edited: PathBuf,
    source: String,
}

impl Copy {
    fn of(checkout: &Path, folder: &Path) -> Copy {
        write_crate(checkout, folder, "nounroll");
        for file in fs::read_dir(checkout.join("kernels/nounroll/src")).expect("the kernels are there") {
            let file = file.expect("the folder can be read").path();
            fs::copy(&file, folder.join("src").join(file.file_name().expect("a name")))
                .expect("the kernels can be copied");
        }
        let edited = folder.join("src/taps.rs");
        let source = fs::read_to_string(&edited).expect("the kernels are there");
        assert!(source.contains("tap < 4"), "the line that is edited is there");
        Copy { folder: folder.to_owned(), edited, source }
    }

    /// One line changes: the number of taps.
    fn edit(&self, run: usize) {
        fs::write(&self.edited, self.source.replacen("tap < 4", &format!("tap < {}", 4 + run), 1)).expect("written");
    }
}

fn write_crate(checkout: &Path, folder: &Path, name: &str) {
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\ndevice-std = {{ path = {:?} }}\n[workspace]\n",
        checkout.join("device-std")
    );
    fs::create_dir_all(folder.join("src")).expect("a folder can be made");
    fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest can be written");
    fs::copy(checkout.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
}

fn timed(folder: &Path, before: Option<&dyn Fn()>, command: &mut Command) -> Duration {
    before.into_iter().for_each(|before| before());
    let start = Instant::now();
    let status = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it runs");
    assert!(status.success(), "{command:?}");
    start.elapsed()
}

fn cargo(tools: &Tools, folder: &Path, verb: &str) -> Command {
    let mut cargo = tools.toolchain.cargo();
    cargo.args([verb, "-q", "--release", "--lib", "--target", "nvptx64-nvidia-cuda"]);
    cargo.arg("--target-dir").arg(folder.join(format!("plain-{verb}")));
    let sysroot = tools.sysroot.folder.display();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot\x1f{sysroot}\x1f-Ctarget-cpu=sm_90"));
    cargo
}

fn plain_cargo(tools: &Tools, folder: &Path) -> Command {
    let mut cargo = cargo(tools, folder, "rustc");
    cargo.args(["--crate-type", "rlib", "--", "--emit=asm"]);
    cargo
}

/// The linker of the stock target is not here, so the crate is only compiled; there is nothing to do either way.
fn plain_build(tools: &Tools, folder: &Path) -> Command {
    let mut cargo = cargo(tools, folder, "rustc");
    cargo.args(["--crate-type", "rlib"]);
    cargo
}

fn latch_build(folder: &Path) -> Command {
    command(folder, &["build", "--arch", "sm_90", "--emit", "ptx"])
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut latch = Command::new(setup::beside("cargo-latch").expect("cargo-latch has been built"));
    latch.args(arguments).args(["--hints", "llvm"]).env("CARGO_TARGET_DIR", folder.join("latch"));
    latch
}

fn median(mut timings: Vec<Duration>) -> Duration {
    timings.sort();
    timings[timings.len() / 2]
}
