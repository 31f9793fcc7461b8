//! What Latch costs a developer: a rebuild of `kernels/nounroll` to PTX after a one-line change, against plain cargo.
//!
//! `cargo bench -p cargo-latch` runs both in turn on a copy of the crate and prints the medians and their ratio. Plain cargo
//! is `cargo rustc … -- --emit=asm` with the same core library, which optimizes but does not link. The ratio should
//! stay below 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cargo_latch::setup::{self, Progress, Tools};

const RUNS: usize = 15;

fn main() {
    let tools = setup::ensure_basic(&Progress::on_stderr()).expect("set-up works");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the checkout");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let kernels = Copy::of(checkout, folder.path());

    let (mut plain, mut latch) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let timings =
            [timed(&kernels, run, plain_cargo(&tools, &kernels)), timed(&kernels, run, latch_build(&kernels))];
        // The first run compiles the dependencies too.
        if run > 0 {
            plain.push(timings[0]);
            latch.push(timings[1]);
        }
    }
    let (plain, latch) = (median(plain), median(latch));
    println!("plain cargo rustc --emit=asm: {:6.0} ms", plain.as_secs_f64() * 1e3);
    println!("cargo latch build:            {:6.0} ms", latch.as_secs_f64() * 1e3);
    println!("ratio:                        {:6.2}", latch.as_secs_f64() / plain.as_secs_f64());
}

/// A copy of the crate outside the workspace, so that the checkout is left alone.
struct Copy {
    folder: PathBuf,
    edited: PathBuf,
    source: String,
}

impl Copy {
    fn of(checkout: &Path, folder: &Path) -> Copy {
        let manifest = format!(
            "[package]\nname = \"nounroll\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
             [dependencies]\ndevice-std = {{ path = {:?} }}\n[workspace]\n",
            checkout.join("device-std")
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest can be written");
        fs::copy(checkout.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
        fs::create_dir(folder.join("src")).expect("a folder can be made");
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

fn timed(kernels: &Copy, run: usize, mut command: Command) -> Duration {
    kernels.edit(run);
    let start = Instant::now();
    let status = command.current_dir(&kernels.folder).stdout(Stdio::null()).status().expect("the command runs");
    assert!(status.success(), "{command:?}");
    start.elapsed()
}

fn plain_cargo(tools: &Tools, kernels: &Copy) -> Command {
    let mut cargo = tools.toolchain.cargo();
    cargo.args(["rustc", "-q", "--release", "--lib", "--crate-type", "rlib", "--target", "nvptx64-nvidia-cuda"]);
    cargo.arg("--target-dir").arg(kernels.folder.join("plain"));
    cargo.args(["--", "--emit=asm"]);
    let sysroot = tools.sysroot.folder.display();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", format!("--sysroot\x1f{sysroot}\x1f-Ctarget-cpu=sm_90"));
    cargo
}

fn latch_build(kernels: &Copy) -> Command {
    let mut latch = Command::new(setup::beside("cargo-latch").expect("cargo-latch has been built"));
    latch.args(["build", "--hints", "llvm", "--arch", "sm_90", "--emit", "ptx"]);
    latch.env("CARGO_TARGET_DIR", kernels.folder.join("latch"));
    latch
}

fn median(mut timings: Vec<Duration>) -> Duration {
    timings.sort();
    timings[timings.len() / 2]
}
