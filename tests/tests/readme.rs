//! The promise: what the README shows is what the commands print, and what it names exists.

use latch_tests::{checkout, latch, shown};

fn readme() -> String {
    std::fs::read_to_string(checkout().join("README.md")).expect("the README is there")
}

/// Lines without the blanks at their ends.
fn lines(text: &str) -> Vec<&str> {
    text.trim().lines().map(str::trim_end).collect()
}

#[test]
fn the_demonstration_prints_the_readmes_table() {
    let readme = readme();
    let (_, rest) = readme.split_once("<!-- printed by ./latch demo").expect("the README marks the table");
    let block = rest.split("```").nth(1).expect("a block follows").trim_start_matches("text");
    let demo = latch(&checkout(), &["demo"]);
    assert!(demo.status.success(), "{}", shown(&demo));
    let printed = String::from_utf8_lossy(&demo.stdout).into_owned();
    assert_eq!(lines(block.trim_start_matches('\n')), lines(&printed));
}

/// Words, with the PTX's line left out: it moves with the compiler's own crates.
fn words(text: &str) -> Vec<&str> {
    let (start, rest) = text.split_once("PTX line ").expect("a fault names its line");
    start.split_whitespace().chain(rest.split_whitespace().skip(1)).collect()
}

#[test]
fn the_command_that_runs_a_kernel_says_what_the_readme_shows() {
    let readme = readme();
    let (_, rest) = readme.split_once("$ ./latch run ").expect("the README shows the command");
    let (command, rest) = rest.split_once('\n').expect("its output follows");
    let shown_there = rest.split("```").next().expect("the block ends");
    let arguments: Vec<&str> = ["run"].into_iter().chain(command.split_whitespace()).collect();
    let ran = latch(&checkout(), &arguments);
    assert_eq!(ran.status.code(), Some(1), "{}", shown(&ran));
    assert_eq!(words(shown_there), words(&String::from_utf8_lossy(&ran.stderr)));
}

#[test]
fn the_audit_of_the_tensor_cores_prints_the_readmes_table() {
    let readme = readme();
    let (_, rest) = readme.split_once("$ ./latch audit -p matrix ").expect("the README shows the command");
    let (options, rest) = rest.split_once('\n').expect("its output follows");
    let arguments: Vec<&str> = ["audit", "-p", "matrix"].into_iter().chain(options.split_whitespace()).collect();
    let ran = latch(&checkout(), &arguments);
    assert!(ran.status.success(), "{}", shown(&ran));
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let table = rest.split("```").next().expect("the block ends");
    assert!(lines(&printed).join("\n").contains(&lines(table).join("\n")), "{printed}");
}

#[test]
fn a_hint_is_followed_to_amds_code_as_the_readme_shows() {
    let readme = readme();
    let (_, rest) = readme.split_once("$ ./latch inspect ").expect("the README shows the command");
    let (command, rest) = rest.split_once('\n').expect("its output follows");
    let shown_there = rest.split("```").next().expect("the block ends");
    let arguments: Vec<&str> = ["inspect"].into_iter().chain(command.split_whitespace()).collect();
    let inspected = latch(&checkout(), &arguments);
    assert!(inspected.status.success(), "{}", shown(&inspected));
    assert_eq!(lines(shown_there), lines(&String::from_utf8_lossy(&inspected.stdout)));
}

#[test]
fn the_readme_starts_with_the_two_commands() {
    let readme = readme();
    let mut lines = readme.lines();
    assert!(lines.next().is_some_and(|line| line.trim_start().starts_with("./latch demo ")));
    assert!(lines.next().is_some_and(|line| line.trim_start().starts_with("./latch test ")));
}

#[test]
fn every_command_is_in_the_readme_and_every_command_of_the_readme_exists() {
    let readme = readme();
    let help = latch(&checkout(), &["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let (_, listed) = help.split_once("Commands:").expect("the help lists commands");
    let commands: Vec<&str> = listed
        .lines()
        .skip(1)
        .map_while(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in &commands {
        let named = [format!("cargo latch {command}"), format!("./latch {command}")];
        assert!(named.iter().any(|named| readme.contains(named)), "`{command}` is not in the README");
    }
    for (at, _) in readme.match_indices("cargo latch ") {
        let word =
            readme[at + "cargo latch ".len()..].split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        assert!(commands.contains(&word), "the README names `cargo latch {word}`");
    }
}

#[test]
fn ci_runs_the_readmes_test_command() {
    let ci = std::fs::read_to_string(checkout().join(".ci/run")).expect("the script is there");
    assert!(ci.lines().any(|line| line == "./latch test"));
}

#[test]
fn the_architecture_names_every_folder() {
    let architecture = std::fs::read_to_string(checkout().join("ARCHITECTURE.md")).expect("the file is there");
    for entry in std::fs::read_dir(checkout()).expect("the checkout can be read") {
        let entry = entry.expect("the checkout can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join("Cargo.toml").is_file() || name == "kernels" {
            assert!(architecture.contains(&format!("`{name}/`")), "`{name}/` is not in ARCHITECTURE.md");
        }
    }
}
