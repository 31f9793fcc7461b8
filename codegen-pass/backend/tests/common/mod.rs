//! Compiles small device crates with the plugin and reads the MIR that comes out.
//!
//! Every test crate uses a `device_std` that holds the markers and nothing else, so that what is tested is the plugin.
//! The MIR is read from its text by a reader of its own, which knows nothing of the analysis under test.
//!
//! The environment says what to compile with: `RUSTC`, the compiler that the plugin was built with (else `rustc`), and
//! `LATCH_DEVICE_SYSROOT`, the folder with core for nvptx64. `./latch test` sets both.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod mir;

use mir::Mir;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The GPU target.
pub const GPU: &str = "nvptx64-nvidia-cuda";

const DEVICE_STD: &str = r#"
#![no_std]
unsafe extern "Rust" {
    pub safe fn __latch_loop_enter(site: &'static str);
    pub safe fn __latch_loop_body(site: &'static str, factor: u64);
}
"#;

/// What every test crate starts with, on one line, so that line numbers are those of the source given plus one.
const PRELUDE: &str = "#![no_std] #![allow(unused, improper_ctypes_definitions)] use device_std::*; \
    macro_rules! enter { ($site:literal) => { __latch_loop_enter(concat!(\"nounroll|t|lib.rs|\", $site, \"|1\")) } } \
    macro_rules! body { ($site:literal) => { __latch_loop_body(concat!(\"nounroll|t|lib.rs|\", $site, \"|1\"), 1) } }\n";

/// A folder in which one test compiles its crates.
pub struct Session {
    folder: PathBuf,
    /// Arguments for every crate.
    arguments: Vec<String>,
    with_plugin: bool,
}

/// What one compilation gave.
pub struct Compiled {
    /// Did it succeed?
    pub success: bool,
    /// What rustc printed.
    pub messages: String,
    folder: PathBuf,
    name: String,
}

impl Session {
    /// A session of its own for the test `name`, at an optimization level, for the GPU.
    pub fn new(name: &str, opt_level: u32) -> Session {
        let sysroot = std::env::var("LATCH_DEVICE_SYSROOT")
            .expect("LATCH_DEVICE_SYSROOT must name the folder that holds core for nvptx64: run `./latch test`");
        let gpu =
            ["--target", GPU, "--sysroot", &sysroot, "-Ctarget-cpu=sm_80", "-Cno-prepopulate-passes", "-Clto=off"];
        Session::with_arguments(name, opt_level, &gpu)
    }

    /// The same for the host, where functions can unwind.
    pub fn for_host(name: &str, opt_level: u32) -> Session {
        Session::with_arguments(name, opt_level, &[])
    }

    fn with_arguments(name: &str, opt_level: u32, arguments: &[&str]) -> Session {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{opt_level}"));
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{}: {error}", folder.display()),
            _ => std::fs::create_dir_all(&folder).expect("the folder for test outputs can be made"),
        }
        let mut session = Session { folder, arguments: Vec::new(), with_plugin: true };
        session.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        session.arguments.push(format!("-L{}", device_std(&session.arguments).display()));
        session.arguments.push(format!("-Copt-level={opt_level}"));
        session
    }

    /// Adds an argument for every crate compiled from now on.
    pub fn argument(mut self, argument: &str) -> Session {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Compiles without the plugin from now on.
    pub fn without_plugin(mut self) -> Session {
        self.with_plugin = false;
        self
    }

    /// Where the session's crates are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Compiles a crate that starts with the prelude.
    pub fn compile(&self, name: &str, source: &str) -> Compiled {
        self.compile_as_is(name, &format!("{PRELUDE}{source}"), &["--extern", "device_std"])
    }

    /// Compiles a crate, which must succeed without a message.
    pub fn mir(&self, name: &str, source: &str) -> Mir {
        let compiled = self.compile(name, source);
        assert!(compiled.success && compiled.messages.is_empty(), "{}", compiled.messages);
        compiled.mir()
    }

    /// Compiles a crate of exactly this source.
    pub fn compile_as_is(&self, name: &str, source: &str, arguments: &[&str]) -> Compiled {
        let file = self.folder.join(format!("{name}.rs"));
        std::fs::write(&file, source).expect("a test crate can be written");
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.current_dir(&self.folder).env("RUSTC_BOOTSTRAP", "1");
        rustc.args(["--edition=2024", "--emit=link,mir,llvm-ir", "-L."]);
        rustc.args(["-Zvalidate-mir", "-Zdump-mir=LatchHints"]);
        if !arguments.iter().any(|argument| argument.starts_with("--crate-type")) {
            rustc.arg("--crate-type=rlib");
        }
        rustc.args(&self.arguments).args(arguments).arg(format!("{name}.rs"));
        if self.with_plugin {
            rustc.arg(format!("-Zcodegen-backend={}", plugin().display()));
        }
        let output = rustc.output().expect("rustc can be started");
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!messages.contains("internal compiler error"), "{messages}");
        Compiled { success: output.status.success(), messages, folder: self.folder.clone(), name: name.to_owned() }
    }
}

/// The folder with a `device_std` compiled with these arguments. Made once for each list of arguments.
fn device_std(arguments: &[String]) -> PathBuf {
    static MADE: Mutex<BTreeMap<Vec<String>, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = made.get(arguments) {
        return folder.clone();
    }
    let test = std::env::current_exe().expect("a test knows its own path");
    let name = format!("device_std-{}", made.len());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.file_name().expect("a file has a name")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder for test outputs can be made");
    let session = Session { folder: folder.clone(), arguments: arguments.to_vec(), with_plugin: true };
    let device_std = session.compile_as_is("device_std", DEVICE_STD, &[]);
    assert!(device_std.success, "{}", device_std.messages);
    made.insert(arguments.to_vec(), folder.clone());
    folder
}

impl Compiled {
    /// The MIR of the crate.
    pub fn mir(&self) -> Mir {
        Mir::read(&self.text("mir"))
    }

    /// An output of the compiler, by its extension.
    pub fn text(&self, extension: &str) -> String {
        let file = self.folder.join(format!("{}.{extension}", self.name));
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}\n{}", file.display(), self.messages))
    }

    /// The functions of the crate that the plugin changed, by the dumps that it wrote.
    pub fn changed(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.join("mir_dump")) else { return Vec::new() };
        let names = entries.map(|entry| entry.expect("a folder can be read").file_name().into_string());
        let mut changed: Vec<String> = names
            .filter_map(|name| {
                let name = name.ok()?;
                let function = name.strip_prefix(&self.name)?.strip_prefix('.')?;
                Some(function.strip_suffix(".-------.LatchHints.after.mir")?.to_owned())
            })
            .collect();
        changed.sort();
        changed
    }

    /// How often a text stands in the compiler's messages.
    pub fn count(&self, text: &str) -> usize {
        self.messages.matches(text).count()
    }
}

/// The plugin, which cargo has built for this test.
pub fn plugin() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    test.with_file_name("librustc_codegen_latch.so")
}
