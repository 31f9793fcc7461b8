//! `./latch` on made-up machines: which way it takes to the toolchain, and what it leaves alone.
//!
//! rustup, apt-get, dpkg and the compilers are shell scripts here; the search path has nothing else but a few plain
//! tools.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::fakes::script;

const TOOLS: [&str; 23] = [
    "sh",
    "cat",
    "cp",
    "cut",
    "dirname",
    "echo",
    "env",
    "flock",
    "grep",
    "ln",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "rm",
    "sed",
    "sha256sum",
    "sort",
    "tail",
    "touch",
    "tr",
    "uname",
    "cc",
];
/// A toolchain's compiler, as far as `./latch` asks.
const RUSTC: &str = r#"case "$*" in -V) echo "rustc RELEASE (made up)";; *) echo "${0%/bin/rustc}";; esac"#;
/// What of the checkout `./latch` needs, as long as the toolchain is made up.
const CHECKOUT: [&str; 4] = [
    "latch",
    "cargo-latch/src/setup/compilers.txt",
    "cargo-latch/src/setup/debian-packages.sh",
    "cargo-latch/src/setup/debian-toolchain.sh",
];
/// What a made-up `rustc-web_….deb` has for a hash: it holds its name.
const RUSTC_WEB: &str = "6e06440fb1a8c635f47e137da9671a5e2621a99353adb42e5e318be6452d3aa3";
const RUST_SRC: &str = "lib/rustlib/src/rust/library/core/Cargo.toml";

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(this.at("bin")).unwrap();
        for tool in TOOLS {
            let found =
                std::env::split_paths(&std::env::var_os("PATH").unwrap()).map(|f| f.join(tool)).find(|f| f.exists());
            symlink(found.unwrap_or_else(|| panic!("the tests need {tool}")), this.at("bin").join(tool)).unwrap();
        }
        for file in CHECKOUT {
            let copy = this.at("checkout").join(file);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file), copy).unwrap();
        }
        script(&this.at("command"), "echo \"the command was run with: $*\"");
        this
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn toolchain(&self) -> PathBuf {
        self.toolchain_of("1.96.0")
    }

    fn toolchain_of(&self, release: &str) -> PathBuf {
        self.at(&format!("rustup/toolchains/{release}-{}-unknown-linux-gnu", std::env::consts::ARCH))
    }

    /// Gives the checkout another table of compilers.
    fn table(&self, table: &str) {
        fs::write(self.at("checkout/cargo-latch/src/setup/compilers.txt"), table).unwrap();
    }

    /// A cargo that "builds" the made-up command.
    fn cargo(&self) -> String {
        let command = self.at("command").with_file_name("cargo-latch");
        script(&command, "echo \"the command was run with: $*\"");
        format!(
            "case \"$*\" in -V) echo 'cargo 1.96.0';; *) echo '{{\"executable\":\"{}\"}}';; esac",
            command.display()
        )
    }

    fn whole_toolchain(&self, at: &Path) {
        self.whole_toolchain_of("1.96.0", at);
    }

    fn whole_toolchain_of(&self, release: &str, at: &Path) {
        script(&at.join("bin/rustc"), &RUSTC.replace("RELEASE", release));
        script(&at.join("bin/cargo"), &self.cargo());
        fs::create_dir_all(at.join(RUST_SRC).parent().unwrap()).unwrap();
        fs::write(at.join(RUST_SRC), "").unwrap();
    }

    /// A rustup that runs what is in the toolchain's place, and installs by renaming what lies ready, if anything does.
    fn rustup(&self) {
        let body = format!(
            "case \"$1\" in\n\
             run) shift 2; case $1 in /*) exec \"$@\";; *) program=$1; shift; exec '{0}'/bin/\"$program\" \"$@\";; esac;;\n\
             toolchain) echo \"$*\" >>'{1}/asked'; [ -d '{1}/ready' ] || {{ echo 'error: no connection' >&2; exit 1; }}\n\
             mkdir -p '{1}/rustup/toolchains'; mv '{1}/ready' '{0}';;\nesac",
            self.toolchain().display(),
            self.folder.path().display()
        );
        script(&self.at("bin/rustup"), &body);
    }

    /// An archive that has every package of a release, each with the files that the arrangement looks for.
    fn debian(&self, release: &str) {
        script(
            &self.at("bin/apt-get"),
            &format!(
                ". /etc/os-release\ncase \"$*\" in\n\
                 *indextargets*) echo \"Packages http://archive.invalid/ $VERSION_CODENAME main\"; exit;;\n\
                 *download*) echo \"$*\" >>'{}';;\n*) exit;;\nesac\n\
                 until [ \"$1\" = download ]; do shift; done\nshift\n\
                 for package; do name=${{package%%=*}}; case $package in\n\
                 *={release}\\*|libllvm*) echo \"$name\" >\"${{name}}_{release}+dfsg9_amd64.deb\";;\n\
                 *) echo \"E: Version '${{package#*=}}' for '$name' was not found\"; exit 100;; esac; done",
                self.at("downloads").display()
            ),
        );
        let made = self.at("packages");
        self.whole_toolchain_of(release, &made.join("usr"));
        let libraries = made.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
        fs::create_dir_all(&libraries).unwrap();
        for library in ["librustc_driver-1.so", "libLLVM.so.22.1"] {
            fs::write(libraries.join(library), "").unwrap();
        }
        fs::create_dir_all(made.join("usr/share/doc")).unwrap();
        script(&self.at("bin/dpkg"), &format!("cp -R '{}/usr' \"$3/\"", made.display()));
    }

    fn run(&self, environment: &[(&str, &str)]) -> Output {
        self.run_with(&["doctor", "--json"], environment)
    }

    fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(self.at("checkout/latch"));
        command.env_clear().env("PATH", self.at("bin")).env("HOME", self.folder.path());
        command.env("RUSTUP_HOME", self.at("rustup")).env("CARGO_HOME", self.at("cargo"));
        command.env("CARGO_TARGET_DIR", self.at("target")).envs(environment.iter().copied());
        command.args(arguments).output().unwrap()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_ran(output: &Output) {
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "the command was run with: doctor --json\n",
        "{}",
        said(output)
    );
    assert!(output.status.success());
}

/// Debian's packages can only be tried on Debian, whose release and keyring the script looks for.
fn is_debian() -> bool {
    Path::new("/usr/share/keyrings/debian-archive-keyring.gpg").exists()
}

#[test]
fn a_toolchain_that_is_there_is_used_and_nothing_is_installed() {
    let here = Place::new();
    here.rustup();
    here.whole_toolchain(&here.toolchain());
    let output = here.run(&[]);
    assert_ran(&output);
    assert!(!here.at("asked").exists() && said(&output) == "latch: building the command\n", "{}", said(&output));
}

#[test]
fn a_toolchain_is_used_without_rustup_too() {
    let here = Place::new();
    here.whole_toolchain(&here.toolchain());
    assert_ran(&here.run(&[]));
}

#[test]
fn rustup_installs_where_it_may() {
    let here = Place::new();
    here.rustup();
    here.whole_toolchain(&here.at("ready"));
    assert_ran(&here.run(&[]));
    let asked = fs::read_to_string(here.at("asked")).unwrap();
    assert_eq!(asked, "toolchain install 1.96.0 --profile minimal -c rust-src -c rustfmt -c clippy\n");
}

#[test]
fn where_rustup_may_not_it_is_not_asked() {
    let here = Place::new();
    here.rustup();
    let output = here.run(&[("RUSTUP_AUTO_INSTALL", "0")]);
    assert!(!here.at("asked").exists());
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn where_neither_way_is_open_it_is_said_what_to_do() {
    let here = Place::new();
    here.rustup();
    let output = here.run(&[]);
    let said = said(&output);
    assert!(said.contains("error: no connection"), "{said}");
    assert!(
        said.contains("this is not a Debian system (no apt-get and dpkg), so Debian's packages cannot be used"),
        "{said}"
    );
    assert!(said.ends_with("then run 'rustup toolchain install 1.96.0 -c rust-src'\n"), "{said}");
    assert_eq!(output.status.code(), Some(2));
    assert!(!here.toolchain().exists());
}

#[test]
fn debians_packages_are_put_together_into_a_toolchain() {
    if !is_debian() {
        return;
    }
    let here = Place::new();
    here.debian("1.96.0");
    assert_ran(&here.run(&[]));
    let toolchain = here.toolchain();
    for file in [
        ".made-by-latch",
        "bin/cargo",
        "lib/librustc_driver-1.so",
        "lib/libLLVM.so.22.1",
        "lib/libLLVM-22.so",
        RUST_SRC,
    ] {
        assert!(toolchain.join(file).exists(), "{file}");
    }
    assert!(!toolchain.join("share").exists());
    assert!(fs::read_to_string(here.at("downloads")).unwrap().contains("download rustc-web=1.96.0*"));
    assert!(!here.at("rustup/latch-1.96.0.partial").exists());
}

/// A table with two rows, and with the hash of one package of the first.
fn two_rows(hash: &str) -> String {
    let row = |release: &str| format!("{release} llvm 22\n{release} debian-llvm libLLVM.so.22.1\n");
    format!("# text\n\n{}1.96.0 deb rustc-web 1.96.0+dfsg9 amd64 {hash}\n{}", row("1.96.0"), row("1.95.7"))
}

#[test]
fn a_package_of_the_pinned_hash_is_taken_and_of_the_others_it_is_said_that_they_have_none() {
    if !is_debian() {
        return;
    }
    let here = Place::new();
    here.debian("1.96.0");
    here.table(&two_rows(RUSTC_WEB));
    let output = here.run(&[]);
    assert_ran(&output);
    let said = said(&output);
    let (_, unknown) = said.split_once("held to the signature of Debian alone, by apt: ").expect(&said);
    let unknown: Vec<&str> = unknown.lines().next().unwrap().split(' ').collect();
    assert!(unknown.contains(&"rust-web-src=1.96.0+dfsg9") && !unknown.contains(&"rustc-web=1.96.0+dfsg9"), "{said}");
}

#[test]
fn a_package_of_another_hash_is_not_unpacked() {
    if !is_debian() {
        return;
    }
    let here = Place::new();
    here.debian("1.96.0");
    here.table(&two_rows(&"0".repeat(64)));
    let output = here.run(&[]);
    let said = said(&output);
    let expected = format!(
        "rustc-web_1.96.0+dfsg9_amd64.deb is not to be trusted: its SHA-256 is {RUSTC_WEB}, and it should be {}; nothing was \
         unpacked: see which archive this machine's apt sources name\n",
        "0".repeat(64)
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!(output.status.code(), Some(2));
    assert!(!here.toolchain().exists());
}

#[test]
fn where_debian_has_moved_on_the_next_compiler_of_the_table_is_taken() {
    if !is_debian() {
        return;
    }
    let here = Place::new();
    here.debian("1.95.7");
    here.table(&two_rows(RUSTC_WEB));
    let output = here.run(&[]);
    assert_ran(&output);
    let said = said(&output);
    assert!(said.contains("E: Version '1.96.0*' for 'rustc-web' was not found"), "{said}");
    assert!(said.contains("latch: no Rust 1.96.0 from Debian's packages (see above): trying 1.95.7\n"), "{said}");
    assert!(here.toolchain_of("1.95.7").join("lib/libLLVM-22.so").exists() && !here.toolchain().exists());
    assert_ran(&here.run(&[]));
}

#[test]
fn the_demonstration_is_built_without_the_emulator_unless_that_is_there() {
    let here = Place::new();
    here.whole_toolchain(&here.toolchain());
    let log = here.at("cargo.log");
    let cargo = format!("echo \"$*\" >>'{}'\n{}", log.display(), here.cargo());
    script(&here.toolchain().join("bin/cargo"), &cargo);
    let lean = |arguments: &[&str]| {
        fs::write(&log, "").unwrap();
        here.run_with(arguments, &[]);
        fs::read_to_string(&log).unwrap().contains("--no-default-features")
    };
    assert!(lean(&["demo"]) && lean(&["doctor"]) && !lean(&["run", "k"]) && !lean(&["test"]));
    fs::create_dir_all(here.at("target/debug/deps")).unwrap();
    fs::write(here.at("target/debug/deps/libemulator-0123.rlib"), "").unwrap();
    assert!(!lean(&["demo"]));
}

#[test]
fn a_part_left_by_an_interrupted_run_is_thrown_away() {
    if !is_debian() {
        return;
    }
    let here = Place::new();
    here.debian("1.96.0");
    let junk = here.at("rustup/latch-1.96.0.partial/usr/bin/junk");
    fs::create_dir_all(junk.parent().unwrap()).unwrap();
    fs::write(junk, "").unwrap();
    assert_ran(&here.run(&[]));
    assert!(!here.toolchain().join("bin/junk").exists());
    assert!(!here.at("rustup/latch-1.96.0.partial").exists());
}

#[test]
fn a_broken_toolchain_of_our_making_and_a_dangling_link_are_replaced() {
    let broken: [fn(&Path); 2] = [
        |place| {
            script(&place.join("bin/rustc"), "exit 1");
            fs::write(place.join(".made-by-latch"), "").unwrap();
        },
        |place| symlink("/nowhere", place).unwrap(),
    ];
    for break_it in broken {
        let here = Place::new();
        here.rustup();
        fs::create_dir_all(here.at("rustup/toolchains")).unwrap();
        break_it(&here.toolchain());
        here.whole_toolchain(&here.at("ready"));
        assert_ran(&here.run(&[]));
    }
}

#[test]
fn a_broken_toolchain_of_somebody_elses_is_left_alone() {
    let here = Place::new();
    here.rustup();
    script(&here.toolchain().join("bin/rustc"), "exit 1");
    let output = here.run(&[("RUSTUP_AUTO_INSTALL", "0")]);
    let said = said(&output);
    assert!(said.contains("does not work and is not of Latch's making: remove it, or mend it with"), "{said}");
    assert!(here.toolchain().join("bin/rustc").exists());
}

#[test]
fn without_a_c_compiler_it_is_said_how_to_get_one() {
    let here = Place::new();
    here.whole_toolchain(&here.toolchain());
    fs::remove_file(here.at("bin/cc")).unwrap();
    let output = here.run(&[]);
    assert_eq!(
        said(&output),
        "error: there is no C compiler to link with: install gcc (on Debian: apt-get install gcc libc6-dev)\n"
    );
    assert_eq!(output.status.code(), Some(2));
}
