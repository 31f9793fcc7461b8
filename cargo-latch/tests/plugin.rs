//! The promise: a plugin for another compiler, or from other source, is never loaded, and one that is there costs
//! nothing.
//!
//! The toolchain is made up, so that these tests say when and with what the plugin is built. That the real one builds
//! and loads is seen by the plugin's own tests and by every test in MIR mode.

#[allow(dead_code, reason = "made for the tests of the set-up")]
#[path = "setup/fakes.rs"]
mod fakes;

use cargo_latch::plugin;
use cargo_latch::setup::rustc_dev::Origin;
use cargo_latch::setup::{Progress, RustcDev};
use fakes::{Fake, tree};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Makes what a real cargo would of the plugin: a file that is another with each build.
const CARGO: &str = r#"
while [ $# -gt 0 ]; do
    [ "$1" = --target-dir ] && target=$2
    [ "$1" = --target ] && host=$2
    shift
done
mkdir -p "$target/$host/release"
date +%s%N >"$target/$host/release/librustc_codegen_latch.so"
"#;

/// The files that the plugin is made of, in a checkout as small as can be.
const SOURCES: [&str; 7] = [
    "hint-record/Cargo.toml",
    "hint-record/src/lib.rs",
    "codegen-pass/Cargo.toml",
    "codegen-pass/src/lib.rs",
    "codegen-pass/backend/Cargo.toml",
    "codegen-pass/backend/Cargo.lock",
    "codegen-pass/backend/src/lib.rs",
];

struct Machine {
    fake: Fake,
}

impl Machine {
    /// A machine with a toolchain, rustc-dev and a checkout.
    fn new() -> Machine {
        let fake = Fake::with_toolchain();
        fake.cargo(CARGO);
        let machine = Machine { fake };
        machine.driver("driver");
        for file in SOURCES {
            machine.source(file, file);
        }
        machine
    }

    fn checkout(&self) -> PathBuf {
        self.fake.root().join("checkout")
    }

    fn source(&self, file: &str, text: &str) {
        self.fake.file(&self.checkout().join(file), text);
    }

    fn compiler(&self) -> RustcDev {
        RustcDev { sysroot: self.fake.root().join("rustc-dev"), origin: Origin::Built }
    }

    fn driver(&self, text: &str) {
        self.fake.file(&self.compiler().sysroot.join("lib/librustc_driver.so"), text);
    }

    fn try_plugin(&self) -> anyhow::Result<PathBuf> {
        let (fake, compiler) = (&self.fake, self.compiler());
        plugin::ensure_from(&self.checkout(), &compiler, &fake.toolchain(), &fake.home, &Progress::silent())
    }

    fn plugin(&self) -> PathBuf {
        self.try_plugin().expect("the plugin is built")
    }

    fn builds(&self) -> usize {
        self.fake.cargo_calls().len()
    }

    /// Every file that belongs to a plugin in the home.
    fn kept(&self) -> Vec<String> {
        let files = tree(self.fake.home.root());
        files.into_iter().filter(|file| file.starts_with("plugin-")).collect()
    }
}

#[test]
fn it_is_built_once() {
    let machine = Machine::new();
    let plugin = machine.plugin();
    assert!(plugin.is_file());
    assert_eq!(machine.plugin(), plugin);
    assert_eq!(machine.builds(), 1);
    let call = machine.fake.cargo_calls().remove(0);
    assert!(call.starts_with("build --release --lib --locked --offline --target-dir "), "{call}");
    assert!(call.contains(" --target x86_64-unknown-linux-gnu "), "{call}");
    let link = format!("[-L{}]", machine.compiler().sysroot.join("lib").display());
    assert!(call.ends_with(&link), "{call}");
}

#[test]
fn its_name_is_another_for_each_source_and_each_compiler() {
    let machine = Machine::new();
    let mut names = vec![machine.plugin()];
    let mut changed = |machine: &Machine, what: &str| {
        let plugin = machine.plugin();
        assert!(!names.contains(&plugin), "{what}");
        assert!(plugin.file_name() != names.last().and_then(|last| last.file_name()), "{what}: the name itself");
        names.push(plugin);
        assert_eq!(machine.builds(), names.len(), "{what}");
    };
    for file in SOURCES {
        machine.source(file, "changed");
        changed(&machine, file);
    }
    machine.source("codegen-pass/src/another.rs", "");
    changed(&machine, "a new file, even an empty one");
    fs::rename(
        machine.checkout().join("codegen-pass/src/another.rs"),
        machine.checkout().join("codegen-pass/src/it.rs"),
    )
    .unwrap();
    changed(&machine, "a file's name");
    machine.driver("a longer driver");
    changed(&machine, "the driver's size");
    let driver = machine.compiler().sysroot.join("lib/librustc_driver.so");
    let an_hour = std::time::Duration::from_secs(3600);
    let time = driver.metadata().unwrap().modified().unwrap() - an_hour;
    fs::File::options().write(true).open(&driver).unwrap().set_modified(time).unwrap();
    changed(&machine, "the driver's time");
    machine.fake.rustc(&fakes::VERBOSE.replace("abc", "def0"));
    changed(&machine, "the compiler's version");
}

#[test]
fn what_is_no_part_of_it_changes_nothing() {
    let machine = Machine::new();
    let plugin = machine.plugin();
    machine.source("codegen-pass/backend/tests/shapes.rs", "a test");
    machine.source("codegen-pass/benches/linear.rs", "a benchmark");
    assert_eq!(machine.plugin(), plugin);
    assert_eq!(machine.builds(), 1);
}

#[test]
fn another_checkouts_stays_for_a_month() {
    let machine = Machine::new();
    let old = machine.plugin();
    machine.source("codegen-pass/src/lib.rs", "changed");
    let middle = machine.plugin();
    assert!(old.exists() && middle.exists());
    let long_ago = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    for plugin in [&old, &middle] {
        File::open(plugin.parent().unwrap()).unwrap().set_modified(long_ago).unwrap();
    }
    machine.source("codegen-pass/src/lib.rs", "changed again");
    let new = machine.plugin();
    assert!(!old.exists() && !middle.exists() && new.exists());
    let name = new.file_stem().unwrap().to_str().unwrap();
    let folder = new.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let expected = [".complete", ".manifest", &format!("{name}.so")];
    assert_eq!(machine.kept(), expected.map(|file| format!("{folder}/{file}")), "and nothing of the build is left");
}

#[test]
fn one_that_was_changed_is_built_again() {
    let machine = Machine::new();
    let plugin = machine.plugin();
    let built = fs::read(&plugin).unwrap();
    let manifest = plugin.with_file_name(".manifest");
    let damages: [(&str, &Path, &[u8]); 4] = [
        ("cut short", &plugin, &built[..3]),
        ("edited", &plugin, b"edited"),
        ("emptied", &plugin, b""),
        ("with another manifest", &manifest, b"0123"),
    ];
    for (number, (what, file, contents)) in damages.into_iter().enumerate() {
        fs::write(file, contents).unwrap();
        assert_eq!(machine.plugin(), plugin, "{what}");
        assert_eq!(machine.builds(), number + 2, "{what}");
        assert!(fs::read_to_string(&plugin).unwrap().trim().parse::<u128>().is_ok(), "{what}");
        machine.plugin();
        assert_eq!(machine.builds(), number + 2, "{what}: built once");
    }
}

#[test]
fn a_failed_build_shows_the_compilers_words_and_leaves_nothing() {
    let machine = Machine::new();
    let old = machine.plugin();
    machine.source("codegen-pass/src/lib.rs", "wrong");
    machine.fake.cargo("echo 'error[E0425]: cannot find `x`' >&2; exit 101");
    let message = format!("{:#}", machine.try_plugin().unwrap_err());
    assert!(message.starts_with("cannot build the compiler plugin: `cargo build --release"), "{message}");
    assert!(message.contains("exit status: 101") && message.ends_with("error[E0425]: cannot find `x`"), "{message}");
    let kept = machine.kept();
    let own = old.parent().unwrap().file_name().unwrap().to_str().unwrap();
    assert!(kept.iter().all(|file| file.starts_with(own)) && kept.len() == 3, "{kept:?}");
}

#[test]
fn a_build_that_makes_no_library_is_an_error() {
    let machine = Machine::new();
    machine.fake.cargo("true");
    let message = format!("{:#}", machine.try_plugin().unwrap_err());
    assert!(message.contains("librustc_codegen_latch.so"), "{message}");
    assert_eq!(machine.kept(), [""; 0]);
}

#[test]
fn a_compiler_without_driver_and_a_checkout_without_sources_are_named() {
    let machine = Machine::new();
    fs::remove_file(machine.compiler().sysroot.join("lib/librustc_driver.so")).unwrap();
    let message = format!("{:#}", machine.try_plugin().unwrap_err());
    assert!(message.contains("there is no librustc_driver in") && message.contains("rustc-dev/lib"), "{message}");

    let machine = Machine::new();
    fs::remove_dir_all(machine.checkout().join("codegen-pass/src")).unwrap();
    let message = format!("{:#}", machine.try_plugin().unwrap_err());
    assert!(
        message.starts_with("cannot read the plugin's sources") && message.contains("codegen-pass/src"),
        "{message}"
    );
}
