//! The promise: the house is built as ARCHITECTURE.md says. A room depends on what its row allows and on nothing more,
//! the modules inside a room form no circle, and every dependency is of use.
//!
//! A module is what stands at the top of a room's `src`, with all below it. `crate::x` in its code leads to the module
//! `x`; what a crate's root holds itself is no module. Tests, which are apart from the house, may look in anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use latch_tests::checkout;
use toml::Table;

/// The rooms, by folder, with what the column `may depend on` says.
fn rooms() -> BTreeMap<String, String> {
    let text = fs::read_to_string(checkout().join("ARCHITECTURE.md")).expect("it is there");
    let (_, rooms) = text.split_once("## Rooms").expect("it has the rooms");
    let rows =
        rooms.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [folders, _, may] = cells[..] else { panic!("a row has three cells: {line}") };
        let folders = folders.split(", ").map(|folder| folder.trim_matches(['`', '/']).to_owned());
        folders.map(|folder| (folder, may.to_owned())).collect::<Vec<_>>()
    };
    rows.flat_map(row).map(|(folder, may)| (full(&folder), may)).collect()
}

/// `macros` and `syntax` stand below the library that they are of.
fn full(folder: &str) -> String {
    if checkout().join(folder).is_dir() { folder.to_owned() } else { format!("device-std/{folder}") }
}

/// Every package of the checkout by the folder that it is in, those of a room of kernels among them.
fn packages(folder: &str) -> Vec<PathBuf> {
    let folder = checkout().join(folder);
    let below = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = [folder.clone()].into_iter().chain(below.filter(|_| folder.ends_with("kernels")));
    all.filter(|folder| folder.join("Cargo.toml").is_file()).collect()
}

fn manifest(package: &Path) -> Table {
    let text = fs::read_to_string(package.join("Cargo.toml")).expect("a package has a manifest");
    text.parse().expect("a manifest is TOML")
}

/// The names of a package's dependencies, those of tests apart.
fn dependencies(package: &Path) -> BTreeSet<String> {
    let manifest = manifest(package);
    let plain = manifest.get("dependencies").and_then(|table| table.as_table());
    let by_target = manifest.get("target").and_then(|targets| targets.as_table()).into_iter().flat_map(Table::values);
    let by_target = by_target.filter_map(|target| target.get("dependencies")?.as_table());
    plain.into_iter().chain(by_target).flat_map(Table::keys).cloned().collect()
}

/// The names of the checkout's own packages.
fn own() -> BTreeSet<String> {
    let manifest = manifest(&checkout());
    let shared = manifest["workspace"]["dependencies"].as_table().expect("the workspace names its packages");
    let is_own = |(_, value): &(&String, &toml::Value)| value.get("path").is_some();
    shared.iter().filter(is_own).map(|(name, _)| name.clone()).collect()
}

#[test]
fn rooms_depend_on_what_their_rows_allow() {
    let own = own();
    let mut wrong = Vec::new();
    for (folder, may) in rooms().iter().filter(|(folder, _)| !["kernels", "snapshots", "tests"].contains(&&***folder)) {
        let allowed: BTreeSet<&str> = may.split([',', ' ', '(', ')']).filter(|word| !word.is_empty()).collect();
        for package in packages(folder) {
            let used = dependencies(&package).into_iter().filter(|name| own.contains(name));
            let named = |name: &String| allowed.contains(&**name) || folder.starts_with("device-std") && is_part(name);
            wrong.extend(used.filter(|name| !named(name)).map(|name| format!("{folder} uses {name}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The parts of device-std are one room.
fn is_part(name: &str) -> bool {
    ["device-std-macros", "hint-syntax"].contains(&name)
}

#[test]
fn every_dependency_is_of_use() {
    let mut unused = Vec::new();
    for folder in rooms().keys() {
        for package in packages(folder) {
            let text: String = sources(&package).into_iter().map(|(_, text)| text).collect();
            let is_used = |name: &String| text.contains(&name.replace('-', "_"));
            let idle = dependencies(&package).into_iter().filter(|name| !is_used(name));
            unused.extend(idle.map(|name| format!("{}: {name}", package.display())));
        }
    }
    assert!(unused.is_empty(), "{unused:#?}");
}

/// The sources of a package, each with the module at the top that it belongs to.
fn sources(package: &Path) -> Vec<(String, String)> {
    let source = package.join("src");
    let files = walkdir::WalkDir::new(&source).into_iter().flatten().map(|entry| entry.into_path());
    let files = files.chain([package.join("build.rs")]);
    let is_code = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "rs") && file.is_file();
    let files = files.filter(|file| is_code(file) && !file.ends_with("tests.rs"));
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a source is text");
        let relative = file.strip_prefix(&source).unwrap_or(&file);
        let top = relative.iter().next().unwrap_or_default().to_string_lossy();
        (top.trim_end_matches(".rs").to_owned(), text)
    };
    files.map(read).collect()
}

/// Which modules a text names, its tests and comments apart.
fn named<'t>(text: &'t str, modules: &BTreeSet<String>) -> BTreeSet<&'t str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| line.split("crate::").skip(1));
    let first = |path: &'t str| match path.strip_prefix('{') {
        // `use crate::{a::B, c};`
        Some(list) => list.split('}').next().unwrap_or_default().split(',').map(str::trim).collect::<Vec<_>>(),
        None => vec![path],
    };
    let word = |path: &'t str| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    paths.flat_map(first).map(word).filter(|name| modules.contains(*name)).collect()
}

/// Rooms whose circles are known, with why they are still there.
const OPEN: [(&str, &str); 1] = [("emulator", "its rooms are made when it is taken apart")];

#[test]
fn modules_form_no_circle() {
    let mut circles = Vec::new();
    for folder in rooms().keys().filter(|folder| OPEN.iter().all(|(open, _)| open != folder)) {
        for package in packages(folder) {
            let sources = sources(&package);
            let modules: BTreeSet<String> = sources.iter().map(|(top, _)| top.clone()).collect();
            let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for (top, text) in sources.iter().filter(|(top, _)| !["lib", "main", "build"].contains(&&**top)) {
                let others = named(text, &modules).into_iter().filter(|name| name != top);
                uses.entry(top).or_default().extend(others);
            }
            let in_circle = uses.keys().filter(|module| reaches(&uses, module, module));
            let names: Vec<&str> = in_circle.copied().collect();
            if !names.is_empty() {
                circles.push(format!("{folder}: {}", names.join(", ")));
            }
        }
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

fn reaches(uses: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![from]);
    while let Some(module) = pending.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if *next == to {
                return true;
            }
            if seen.insert(*next) {
                pending.push(next);
            }
        }
    }
    false
}

#[test]
fn a_circle_would_be_seen() {
    let modules = BTreeSet::from(["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    let text =
        "use crate::{a::X, b};\n// crate::c\nfn f() { crate::b::g() }\n#[cfg(test)]\nmod tests { use crate::c; }\n";
    assert_eq!(named(text, &modules), BTreeSet::from(["a", "b"]));
    let uses =
        BTreeMap::from([("a", BTreeSet::from(["b"])), ("b", BTreeSet::from(["c"])), ("c", BTreeSet::from(["b"]))]);
    assert_eq!(["a", "b", "c"].map(|module| reaches(&uses, module, module)), [false, true, true]);
}
