//! The linker that does not lie beside the command: built once for a compiler and its sources.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_latch::setup::{Progress, linker};

use crate::fakes::{Fake, VERBOSE, tree};

/// Makes what a real cargo would of the linker, and of everything beside it that is not wanted.
const CARGO: &str = r#"
while [ $# -gt 0 ]; do
    [ "$1" = --target-dir ] && target=$2
    [ "$1" = --target ] && triple=$2
    shift
done
mkdir -p "$target/$triple/release/deps"
echo linker >"$target/$triple/release/latch-link"
echo rest >"$target/$triple/release/deps/rest"
"#;

fn with_sources() -> (Fake, PathBuf) {
    let fake = Fake::with_toolchain();
    fake.cargo(CARGO);
    let sources = fake.root().join("sources");
    let rooms = ["hint-record", "codegen-pass", "nounroll-metadata", "bitcode-linker", "result-cache"];
    for room in rooms {
        for file in ["Cargo.toml", "build.rs", "src/lib.rs"] {
            fake.file(&sources.join(room).join(file), room);
        }
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        fake.file(&sources.join(file), file);
    }
    (fake, sources)
}

fn ensure(fake: &Fake, sources: &Path) -> Result<PathBuf, String> {
    linker::ensure(&fake.home, &fake.toolchain(), sources, &Progress::silent()).map_err(|error| error.to_string())
}

#[test]
fn is_built_by_the_compiler_for_kernels_and_kept_alone() {
    let (fake, sources) = with_sources();
    assert_eq!(linker::find(&fake.home, &fake.toolchain(), &sources), None);
    let built = ensure(&fake, &sources).unwrap();
    assert_eq!(tree(built.parent().unwrap()), [".complete", ".manifest", "latch-link"]);
    let calls = fake.cargo_calls();
    let expected = "build --release --locked --package bitcode-linker --target x86_64-unknown-linux-gnu --target-dir ";
    assert!(calls[0].starts_with(expected), "{calls:?}");
    assert_eq!(linker::find(&fake.home, &fake.toolchain(), &sources), Some(built));
}

#[test]
fn is_built_again_for_other_sources_and_for_another_compiler_only() {
    let (fake, sources) = with_sources();
    let first = ensure(&fake, &sources).unwrap();
    assert_eq!(ensure(&fake, &sources).unwrap(), first);
    fs::write(sources.join("nounroll-metadata/src/lib.rs"), "changed").unwrap();
    let second = ensure(&fake, &sources).unwrap();
    assert_ne!(second, first);
    fake.rustc(&VERBOSE.replace("abc0", "def0"));
    assert_ne!(ensure(&fake, &sources).unwrap(), second);
    assert_eq!(fake.cargo_calls().len(), 3);
}

#[test]
fn a_build_that_fails_shows_what_cargo_said() {
    let (fake, sources) = with_sources();
    fake.cargo("echo 'error: no connection' >&2; exit 101");
    let message = ensure(&fake, &sources).unwrap_err();
    assert!(message.starts_with("cannot build latch-link: `cargo build --release --locked"), "{message}");
    assert!(message.ends_with("error: no connection"), "{message}");
}

#[test]
fn sources_that_are_gone_are_named() {
    let (fake, sources) = with_sources();
    fs::remove_file(sources.join("Cargo.lock")).unwrap();
    let message = ensure(&fake, &sources).unwrap_err();
    assert!(message.starts_with(&format!("cannot read {}", sources.join("Cargo.lock").display())), "{message}");
}
