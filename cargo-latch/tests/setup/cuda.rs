//! NVIDIA's tools: which toolkit is taken, what is unpacked of the wheels, and what is said where neither can be had.

use std::fs;

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
    assert_eq!(tree(folder), [".complete", "bin/nvdisasm", "bin/ptxas", "lib/libnvvm.so.4", licence]);
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
        fn wheels(&self, _: &[cargo_latch::setup::cuda::Wheel], folder: &std::path::Path) -> Result<(), SetupError> {
            fs::write(folder.join("junk.whl"), "no zip file").unwrap();
            Ok(())
        }
    }
    let message = ensure(&Fake::bare(), &Junk).unwrap_err().to_string();
    assert!(message.starts_with("cannot unpack ") && message.contains("junk.whl: "), "{message}");
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
    assert!(message.starts_with("pip is missing (") && message.contains("python3 -m pip does not run"), "{message}");
    assert!(message.ends_with(remedy), "{message}");
}

#[test]
fn a_download_that_fails_shows_what_pip_said() {
    let fake = Fake::bare();
    fake.program("python3", "case \"$*\" in *--version*) exit 0;; esac; echo 'ERROR: no connection' >&2; exit 1");
    let message = ensure(&fake, &Pip::of(&fake.machine)).unwrap_err().to_string();
    assert!(message.starts_with("cannot download NVIDIA's tools from PyPI: `python3 -m pip download"), "{message}");
    assert!(message.ends_with("ERROR: no connection"), "{message}");
}

#[test]
fn pip_is_asked_for_pinned_wheels_by_hash() {
    let fake = Fake::bare();
    let log = fake.root().join("pip.log");
    let note = "while [ $# -gt 0 ]; do [ \"$1\" = --requirement ] && /bin/cat \"$2\"; shift; done";
    fake.program("python3", &format!("echo \"$*\" >>'{0}'\n{note} >>'{0}'", log.display()));
    let _ = ensure(&fake, &Pip::of(&fake.machine));
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("--no-deps --only-binary=:all: --require-hashes"), "{log}");
    for wheel in ["nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm", "nvidia-nvvm"] {
        assert!(log.contains(&format!("\n{wheel}==13.5.37 --hash=sha256:")), "{log}");
    }
}
