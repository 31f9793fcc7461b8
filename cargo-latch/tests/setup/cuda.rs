//! NVIDIA's tools: which toolkit is taken, what is unpacked of the wheels, and what is said where neither can be had.

use std::fs;
use std::process::Command;

use cargo_latch::setup::cuda::{Origin, Pip};
use cargo_latch::setup::{CudaTools, Nvcc, Progress, SetupError};

use crate::fakes::{Fake, FakeWheels, NoFetch, WHOLE, is_runnable, script, tree};

fn toolkit(fake: &Fake, ptxas: &str, nvdisasm: &str) {
    for (tool, version) in [("ptxas", ptxas), ("nvdisasm", nvdisasm)] {
        let says = format!("echo 'NVIDIA (R) tool'; echo 'Cuda compilation tools, release {version}, V{version}.37'");
        script(&fake.root().join("cuda/bin").join(tool), &says);
    }
}

fn ensure(fake: &Fake, fetch: &dyn cargo_latch::setup::cuda::Fetch) -> Result<CudaTools, SetupError> {
    CudaTools::ensure(&fake.home, &fake.machine, fetch, &Progress::silent())
}

#[test]
fn a_toolkit_that_is_new_enough_is_taken() {
    let fake = Fake::bare();
    toolkit(&fake, "12.8", "12.9");
    fake.file(&fake.root().join("cuda/nvvm/lib64/libnvvm.so.4"), "nvvm");
    let tools = ensure(&fake, &NoFetch).unwrap();
    assert_eq!(tools.origin, Origin::Toolkit(fake.root().join("cuda")));
    assert_eq!(tools.ptxas, fake.root().join("cuda/bin/ptxas"));
    assert_eq!(tools.version, "12.8.37");
    assert_eq!(tools.libnvvm, Some(fake.root().join("cuda/nvvm/lib64/libnvvm.so.4")));
}

#[test]
fn a_toolkit_without_libnvvm_is_taken_all_the_same() {
    let fake = Fake::bare();
    toolkit(&fake, "13.5", "13.5");
    assert_eq!(ensure(&fake, &NoFetch).unwrap().libnvvm, None);
}

#[test]
fn a_toolkit_is_found_through_links_on_the_search_path() {
    let mut fake = Fake::bare();
    fake.machine.cuda_roots.clear();
    toolkit(&fake, "13.0", "13.0");
    fake.file(&fake.root().join("cuda/nvvm/lib64/libnvvm.so.4"), "nvvm");
    fs::create_dir_all(fake.root().join("bin")).unwrap();
    for tool in ["ptxas", "nvdisasm"] {
        std::os::unix::fs::symlink(fake.root().join("cuda/bin").join(tool), fake.root().join("bin").join(tool))
            .unwrap();
    }
    assert!(ensure(&fake, &NoFetch).unwrap().libnvvm.is_some());
}

#[test]
fn a_toolkit_that_is_too_old_in_either_tool_is_passed_over() {
    for (ptxas, nvdisasm) in [("12.7", "13.5"), ("13.5", "9.10")] {
        let fake = Fake::bare();
        toolkit(&fake, ptxas, nvdisasm);
        assert!(matches!(ensure(&fake, &WHOLE).unwrap().origin, Origin::Wheels(_)));
    }
}

#[test]
fn a_toolkit_that_lacks_a_tool_or_tells_no_version_is_passed_over() {
    let fake = Fake::bare();
    toolkit(&fake, "13.5", "13.5");
    script(&fake.root().join("cuda/bin/nvdisasm"), "echo none of your business");
    assert!(CudaTools::find(&fake.home, &fake.machine).is_none());
    fs::remove_file(fake.root().join("cuda/bin/nvdisasm")).unwrap();
    assert!(CudaTools::find(&fake.home, &fake.machine).is_none());
}

#[test]
fn of_the_wheels_only_what_is_used_is_kept_and_can_be_run() {
    let fake = Fake::bare();
    let tools = ensure(&fake, &WHOLE).unwrap();
    let Origin::Wheels(folder) = &tools.origin else { panic!("{:?}", tools.origin) };
    let licence = "licenses/nvidia_cuda_nvcc-13.5.37.dist-info/License.txt";
    assert_eq!(tree(folder), [".complete", ".manifest", "bin/nvdisasm", "bin/ptxas", "lib/libnvvm.so.4", licence]);
    assert!(is_runnable(&tools.ptxas) && is_runnable(&tools.nvdisasm) && !is_runnable(&tools.libnvvm.unwrap()));
}

#[test]
fn wheels_that_lack_a_tool_are_reported() {
    let lacking = FakeWheels(&[("nvidia/cu13/bin/ptxas", 0o744), ("nvidia/cu13/lib/libnvvm.so.4", 0o644)]);
    let message = ensure(&Fake::bare(), &lacking).unwrap_err().to_string();
    assert!(message.starts_with("cuda-tools is incomplete: bin/nvdisasm was not made"), "{message}");
}

#[test]
fn a_file_that_is_no_wheel_is_reported() {
    struct Junk;
    impl cargo_latch::setup::cuda::Fetch for Junk {
        fn is_pinned(&self, _: &cargo_latch::setup::cuda::Wheel, _: &str) -> bool {
            true
        }

        fn wheels(&self, _: &[cargo_latch::setup::cuda::Wheel], folder: &std::path::Path) -> Result<(), SetupError> {
            fs::write(folder.join("junk.whl"), "no zip file").unwrap();
            Ok(())
        }
    }
    let message = ensure(&Fake::bare(), &Junk).unwrap_err().to_string();
    assert!(message.starts_with("cannot unpack ") && message.contains("junk.whl: "), "{message}");
}

#[test]
fn a_wheel_that_is_not_the_pinned_one_is_not_opened() {
    struct Other;
    impl cargo_latch::setup::cuda::Fetch for Other {
        fn wheels(&self, _: &[cargo_latch::setup::cuda::Wheel], folder: &std::path::Path) -> Result<(), SetupError> {
            fs::write(folder.join("nvidia_cuda_nvcc-13.5.37.whl"), "abc").unwrap();
            Ok(())
        }
    }
    let fake = Fake::bare();
    let message = ensure(&fake, &Other).unwrap_err().to_string();
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let expected = format!(
        "the wheel nvidia_cuda_nvcc-13.5.37.whl is not to be trusted: its SHA-256 is {hash}, and no wheel of NVIDIA's tools \
         13.5.37 has that; nothing of it was used: "
    );
    assert!(message.starts_with(&expected), "{message}");
    assert!(CudaTools::find(&fake.home, &fake.machine).is_none());
}

#[test]
fn nvcc_comes_with_all_its_parts() {
    let wheel = FakeWheels(&[
        ("nvidia/cu13/bin/nvcc", 0o744),
        ("nvidia/cu13/bin/ptxas", 0o744),
        ("nvidia/cu13/bin/crt/link.stub", 0o644),
        ("nvidia/cu13/nvvm/bin/cicc", 0o744),
        ("nvidia/cu13/include/cuda_runtime.h", 0o644),
    ]);
    let fake = Fake::bare();
    let nvcc = Nvcc::ensure(&fake.home, &fake.machine, &wheel, &Progress::silent()).unwrap().nvcc;
    assert!(is_runnable(&nvcc) && nvcc.with_file_name("crt/link.stub").is_file());
    assert!(CudaTools::find(&fake.home, &fake.machine).is_none(), "the two are kept apart");
}

#[test]
fn without_python_or_pip_it_is_said_how_to_get_them() {
    let remedy = "install python3 and pip (on Debian: `apt-get install python3-pip`), or CUDA 12.8 or newer and set CUDA_HOME to it";
    let fake = Fake::bare();
    let message = ensure(&fake, &Pip::of(&fake.machine)).unwrap_err().to_string();
    assert!(message.starts_with("python3 is missing (not on the search path, "), "{message}");
    assert!(message.ends_with(remedy), "{message}");

    fake.program("python3", "exit 1");
    let message = ensure(&fake, &Pip::of(&fake.machine)).unwrap_err().to_string();
    assert!(message.starts_with("pip is missing (") && message.contains("python3 -I -m pip does not run"), "{message}");
    assert!(message.ends_with(remedy), "{message}");
}

#[test]
fn a_download_that_fails_shows_what_pip_said() {
    let fake = Fake::bare();
    fake.program("python3", "case \"$*\" in *--version*) exit 0;; esac; echo 'ERROR: no connection' >&2; exit 1");
    let message = ensure(&fake, &Pip::of(&fake.machine)).unwrap_err().to_string();
    assert!(
        message.starts_with("cannot download NVIDIA's tools from PyPI: `python3 -I -B -m pip download"),
        "{message}"
    );
    assert!(message.ends_with("ERROR: no connection"), "{message}");
}

#[test]
fn pip_is_asked_for_pinned_wheels_by_hash() {
    let fake = Fake::bare();
    let log = fake.root().join("pip.log");
    let note = "while [ $# -gt 0 ]; do [ \"$1\" = --requirement ] && /bin/cat \"$2\"; shift; done";
    fake.program("python3", &format!("echo \"$* [$(/bin/pwd)]\" >>'{0}'\n{note} >>'{0}'", log.display()));
    let _ = ensure(&fake, &Pip::of(&fake.machine));
    let log = fs::read_to_string(log).unwrap();
    assert!(log.starts_with("-I -B -m pip --version [/]\n-I -B -m pip download "), "{log}");
    assert!(log.contains(&format!(" [{}/cuda-tools-", fake.home.root().canonicalize().unwrap().display())), "{log}");
    assert!(log.contains("--no-deps --only-binary=:all: --require-hashes"), "{log}");
    for wheel in ["nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm", "nvidia-nvvm"] {
        assert!(log.contains(&format!("\n{wheel}==13.5.37 --hash=sha256:")), "{log}");
    }
}

/// The installed pip is run, whatever lies in the current folder or in `PYTHONPATH` under its name. Real Python here,
/// without anything to download: no index, and no wheels where it is told to look.
#[test]
fn a_pip_in_the_current_folder_is_never_run() {
    let python = cargo_latch::setup::Machine::this().program("python3");
    let Some(python) = python else { return };
    let fake = Fake::with_toolchain();
    let (here, marker) = (fake.root().join("project"), fake.root().join("hijacked"));
    let evil = format!("open({:?}, 'w').close()\n", marker.display().to_string());
    for file in ["pip/__init__.py", "pip/__main__.py", "runpy.py", "site.py", "sitecustomize.py"] {
        fake.file(&here.join(file), &evil);
    }
    // It would be run, were pip not kept from it: else this test shows nothing.
    let naive = Command::new(&python).args(["-m", "pip", "--version"]).current_dir(&here).output().unwrap();
    assert!(marker.exists(), "{naive:?}");
    fs::remove_file(&marker).unwrap();

    for command in ["doctor", "setup"] {
        let mut latch = Command::new(env!("CARGO_BIN_EXE_cargo-latch"));
        latch.current_dir(&here).env("PYTHONPATH", &here).env("LATCH_HOME", fake.home.root()).arg(command);
        latch.env("RUSTUP_HOME", &fake.machine.rustup_home).env_remove("CUDA_HOME").env_remove("CUDA_PATH");
        latch.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", &here).env("PIP_NO_CACHE_DIR", "1");
        let output = latch.output().unwrap();
        assert!(!marker.exists(), "{command}: {output:?}");
        assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    }
}
