//! Finding ptxas and nvdisasm, and going from a PTX file to figures.

#![allow(dead_code, reason = "every test file uses its own part")]

pub mod nests;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sass::{AssembleOptions, Cubin, KernelReport, Module, Nvdisasm, Program, Ptxas, Report};

/// A cubin and its disassembly.
pub type Made = Arc<(Cubin, Module)>;

type Kept = BTreeMap<(String, String, u8), Arc<OnceLock<Made>>>;

/// The architectures that every promise is held to.
pub const ARCHS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120a"];

pub fn ptxas() -> Ptxas {
    Ptxas::new(tool("ptxas"))
}

pub fn nvdisasm() -> Nvdisasm {
    Nvdisasm::new(tool("nvdisasm"))
}

/// A PTX file of `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn assemble(file: &str, arch: &str) -> Cubin {
    assemble_with(file, arch, &AssembleOptions { line_info: true, ..AssembleOptions::default() })
}

/// A data file, assembled with line information and disassembled. Each once in a test program: nvdisasm takes a while.
pub fn module(file: &str, arch: &str) -> Made {
    module_at(3, file, arch)
}

/// The same at an optimization level.
pub fn module_at(opt_level: u8, file: &str, arch: &str) -> Made {
    static KEPT: Mutex<Kept> = Mutex::new(BTreeMap::new());
    let key = (file.to_owned(), arch.to_owned(), opt_level);
    let kept = KEPT.lock().expect("no test panics in here").entry(key).or_default().clone();
    let make = || {
        let options = AssembleOptions { opt_level, line_info: true, ..AssembleOptions::default() };
        let cubin = assemble_with(file, arch, &options);
        let module = disassemble(&cubin);
        Arc::new((cubin, module))
    };
    kept.get_or_init(make).clone()
}

pub fn assemble_with(file: &str, arch: &str, options: &AssembleOptions) -> Cubin {
    ptxas().assemble(&data(file), arch, options).unwrap_or_else(|error| panic!("{file} for {arch}: {error}"))
}

pub fn disassemble(cubin: &Cubin) -> Module {
    nvdisasm().disassemble(cubin).unwrap_or_else(|error| panic!("{error}"))
}

pub fn report(cubin: &Cubin) -> Report {
    Report::of(cubin, &Program::of(&disassemble(cubin))).expect("a report")
}

/// The figures of a cubin that is disassembled already.
pub fn report_of(made: &Made) -> Report {
    Report::of(&made.0, &Program::of(&made.1)).expect("a report")
}

/// The figures of one kernel.
pub fn kernel(file: &str, name: &str, arch: &str) -> KernelReport {
    let report = report_of(&module(file, arch));
    report.kernel(name).unwrap_or_else(|| panic!("{file} has no kernel {name}")).clone()
}

/// A program of NVIDIA's: in `PATH`, in a CUDA installation, or where the project's set-up puts it.
pub fn tool(name: &str) -> PathBuf {
    let found = folders().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("these tests need {name}: `./latch test` gets it before it runs them"))
}

fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    folders.push("/usr/local/cuda/bin".into());
    let caches = [env::var_os("XDG_CACHE_HOME").map(PathBuf::from), env::home_dir().map(|home| home.join(".cache"))];
    let homes = caches.into_iter().flatten().map(|cache| cache.join("latch"));
    for home in env::var_os("LATCH_HOME").map(PathBuf::from).into_iter().chain(homes) {
        folders.extend(cuda_folders(&home));
    }
    folders
}

/// `cuda-…/bin` in `home`.
fn cuda_folders(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let is_cuda = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-"));
    entries.map(|entry| entry.path()).filter(is_cuda).map(|path| path.join("bin")).collect()
}
