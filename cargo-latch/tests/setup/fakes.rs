//! A made-up machine in a temporary folder: programs that are shell scripts, a toolchain, packages and wheels.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_latch::setup::cuda::{Fetch, Wheel};
use cargo_latch::setup::packages::Packages;
use cargo_latch::setup::{Home, Machine, SetupError, Toolchain};
use tempfile::TempDir;

pub const VERBOSE: &str = "rustc 1.96.0 (abc 2026-05-25) (made up)\nbinary: rustc\ncommit-hash: abc0\ncommit-date: 2026-05-25\n\
    host: x86_64-unknown-linux-gnu\nrelease: 1.96.0\nLLVM version: 22.1.8\n";
pub const HOST_LIBRARIES: &str = "lib/rustlib/x86_64-unknown-linux-gnu/lib";

/// Makes what a real cargo would of `core` for a target, at the folder after `--target-dir`, and notes that it was
/// called.
const CARGO: &str = r#"
while [ $# -gt 0 ]; do
    [ "$1" = --target-dir ] && target=$2
    [ "$1" = --target ] && triple=$2
    shift
done
deps=$target/$triple/release/deps
mkdir -p "$deps"
echo core >"$deps/libcore-0123.rlib"
echo builtins >"$deps/libcompiler_builtins-4567.rlib"
echo unwanted >"$deps/libdevice_sysroot-89ab.rlib"
"#;

pub struct Fake {
    folder: TempDir,
    pub home: Home,
    pub machine: Machine,
}

impl Fake {
    /// A machine with an empty search path, an empty rustup, and an empty home.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        let machine = Machine {
            rustup_home: folder.path().join("rustup"),
            rustup_downloads: true,
            path: folder.path().join("bin").into(),
            cuda_roots: vec![folder.path().join("cuda")],
        };
        Self { folder, home, machine }
    }

    /// The same with a toolchain whose cargo makes a device sysroot.
    pub fn with_toolchain() -> Self {
        let fake = Self::bare();
        fake.rustc(VERBOSE);
        fake.cargo(CARGO);
        fake.file(&fake.sysroot().join("lib/rustlib/src/rust/library/core/Cargo.toml"), "core");
        fake.file(&fake.sysroot().join("lib/libLLVM.so.22.1"), "LLVM");
        fake
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn sysroot(&self) -> PathBuf {
        self.machine.rustup_home.join("toolchains/1.96.0-x86_64-unknown-linux-gnu")
    }

    pub fn toolchain(&self) -> Toolchain {
        Toolchain::locate(&self.home, &self.machine).unwrap()
    }

    /// Gives the toolchain a compiler that says this of its version.
    pub fn rustc(&self, verbose: &str) {
        script(&self.sysroot().join("bin/rustc"), &format!("cat <<'END'\n{verbose}END\n"));
    }

    /// Gives the toolchain a cargo that notes its arguments and flags in `cargo.log` and then does this.
    pub fn cargo(&self, body: &str) {
        let log = self.root().join("cargo.log");
        let note = format!("echo \"$* [$CARGO_ENCODED_RUSTFLAGS]\" >>'{}'\n", log.display());
        script(&self.sysroot().join("bin/cargo"), &(note + body));
    }

    /// One line for each time that cargo was called.
    pub fn cargo_calls(&self) -> Vec<String> {
        let log = fs::read_to_string(self.root().join("cargo.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Puts a program on the machine's search path.
    pub fn program(&self, name: &str, body: &str) {
        script(&self.root().join("bin").join(name), body);
    }

    pub fn file(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Writes a shell script that can be run.
///
/// The file is copied into its place by another process: were it ever open for writing in this one, a process that
/// another test starts meanwhile could hold it open for a moment, and running it would fail ("text file busy").
pub fn script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut text = tempfile::NamedTempFile::new().unwrap();
    write!(text, "#!/bin/sh\n{body}\n").unwrap();
    let copied = Command::new("cp").arg("--remove-destination").arg(text.path()).arg(path).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub fn is_runnable(path: &Path) -> bool {
    path.metadata().unwrap().permissions().mode() & 0o111 == 0o111
}

/// All files below a folder, as sorted relative paths.
pub fn tree(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// Writes the same wheel, with these files and modes, for any list of wheels that is asked for.
pub struct FakeWheels(pub &'static [(&'static str, u32)]);

/// What the real wheels have of what is used, and some of what is not.
pub const WHOLE: FakeWheels = FakeWheels(&[
    ("nvidia/cu13/bin/ptxas", 0o744),
    ("nvidia/cu13/bin/nvdisasm", 0o744),
    ("nvidia/cu13/bin/nvlink", 0o744),
    ("nvidia/cu13/lib/libnvvm.so.4", 0o644),
    ("nvidia/cu13/nvvm/libdevice/libdevice.10.bc", 0o644),
    ("nvidia_cuda_nvcc-13.5.37.dist-info/licenses/License.txt", 0o644),
    ("nvidia_cuda_nvcc-13.5.37.dist-info/RECORD", 0o644),
]);

impl Fetch for FakeWheels {
    fn is_pinned(&self, _: &Wheel, _: &str) -> bool {
        true
    }

    fn wheels(&self, _: &[Wheel], folder: &Path) -> Result<(), SetupError> {
        let mut zip = zip::ZipWriter::new(fs::File::create(folder.join("all.whl")).unwrap());
        for (name, mode) in self.0 {
            zip.start_file(*name, zip::write::SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
            zip.write_all(name.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        Ok(())
    }
}

/// Fails the test if anything is fetched.
pub struct NoFetch;

impl Fetch for NoFetch {
    fn wheels(&self, _: &[Wheel], _: &Path) -> Result<(), SetupError> {
        panic!("nothing was to be fetched");
    }
}

/// Unpacks an llvm-config, whatever the packages.
pub struct FakePackages;

impl Packages for FakePackages {
    fn unpack(&self, packages: &[String], folder: &Path) -> Result<(), SetupError> {
        assert_eq!(packages, ["llvm-22=1:22.1.8*", "llvm-22-dev=1:22.1.8*", "libllvm22=1:22.1.8*"]);
        script(&folder.join("usr/lib/llvm-22/bin/llvm-config"), "");
        Ok(())
    }
}

/// Fails the test if any package is wanted.
pub struct NoPackages;

impl Packages for NoPackages {
    fn unpack(&self, packages: &[String], _: &Path) -> Result<(), SetupError> {
        panic!("no packages were to be unpacked: {packages:?}");
    }
}
