//! Running other programs: with their output kept for the error message, and with what they say of their version
//! remembered.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::UNIX_EPOCH;

use super::error::{SetupError, at};
use super::home::{Home, key_of};

/// Lines of a failed program's output that go into the error.
const TAIL_LINES: usize = 15;

/// Runs the program to its end without input; an error if it reports failure. `purpose` continues "cannot …".
pub(crate) fn run(command: &mut Command, purpose: &str) -> Result<Output, SetupError> {
    let output = command.stdin(Stdio::null()).output().map_err(|source| not_started(command, purpose, source))?;
    if output.status.success() {
        return Ok(output);
    }
    let printed = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    Err(failed(command, purpose, &output.status.to_string(), &String::from_utf8_lossy(printed)))
}

pub(crate) fn not_started(command: &Command, purpose: &str, source: std::io::Error) -> SetupError {
    let program = command.get_program().to_string_lossy().into_owned();
    SetupError::Start { purpose: purpose.to_owned(), program, source }
}

pub(crate) fn failed(command: &Command, purpose: &str, status: &str, printed: &str) -> SetupError {
    SetupError::Failed {
        purpose: purpose.to_owned(),
        command: shown(command),
        status: status.to_owned(),
        tail: tail_of(printed),
    }
}

/// The program's name and arguments, for a message.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn tail_of(printed: &str) -> String {
    let lines: Vec<_> = printed.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// What `command` (a program with arguments that make it say its version) prints, remembered in the home as long as the
/// program's file does not change, so that a run with nothing to do starts no process.
pub(crate) fn version_text(home: &Home, program: &Path, command: &mut Command) -> Result<String, SetupError> {
    let arguments: Vec<String> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    remembered(home, program, &arguments, || {
        let output = run(command, &format!("ask {} for its version", program.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    })
}

/// What `find` finds out about a program's file, remembered in the home as long as that file does not change.
pub(crate) fn remembered(
    home: &Home,
    program: &Path,
    question: &[&str],
    find: impl FnOnce() -> Result<String, SetupError>,
) -> Result<String, SetupError> {
    match state_of(program, question) {
        Some(state) => remembered_as(home, &state, find),
        None => find(),
    }
}

/// What `find` finds out, remembered in the home under a key that holds all that it depends on.
pub(crate) fn remembered_as<E>(home: &Home, key: &str, find: impl FnOnce() -> Result<String, E>) -> Result<String, E> {
    if let Ok(text) = fs::read_to_string(memory(home, key)) {
        return Ok(text);
    }
    let text = find()?;
    remember(home, key, &text);
    Ok(text)
}

/// Keeps what was found out, where the home may be written to.
pub(crate) fn remember(home: &Home, key: &str, text: &str) {
    if !home.only_looks()
        && let Err(error) = write_whole(&memory(home, key), text)
    {
        // Not being able to remember costs time, not correctness.
        tracing::debug!(%error, "answer not remembered");
    }
}

fn memory(home: &Home, key: &str) -> PathBuf {
    home.root().join("versions").join(key)
}

/// All that an answer depends on: the file's path, size and time, and the question. None where there is no file.
fn state_of(program: &Path, question: &[&str]) -> Option<String> {
    let found = program.metadata().ok()?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let state = format!("{} {} {question:?}", found.len(), changed.as_nanos());
    Some(key_of([program.to_string_lossy().as_bytes(), state.as_bytes()]))
}

fn write_whole(file: &Path, text: &str) -> Result<(), SetupError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(at("create", folder))?;
    let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(at("write in", folder))?;
    beside.write_all(text.as_bytes()).map_err(at("write", file))?;
    beside.persist(file).map_err(|error| at("write", file)(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_tells_the_command_and_the_end_of_its_output() {
        let script = "for i in $(seq 40); do echo line $i >&2; done; exit 3";
        let message = run(&mut sh(script), "do it").unwrap_err().to_string();
        assert!(message.starts_with("cannot do it: `sh -c for"), "{message}");
        assert!(message.contains("exit status: 3") && message.ends_with("line 39\nline 40"), "{message}");
        assert!(message.contains("line 26\n") && !message.contains("line 25\n"), "{message}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let message = run(&mut Command::new("/nowhere/tool"), "do it").unwrap_err().to_string();
        assert!(message.starts_with("cannot do it: cannot start /nowhere/tool: "), "{message}");
    }

    #[test]
    fn a_version_is_asked_for_once_as_long_as_the_program_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        let program = folder.path().join("program");
        let ask = || version_text(&home, &program, &mut sh(&format!("cat {}", program.display()))).unwrap();
        fs::write(&program, "one").unwrap();
        let time = program.metadata().unwrap().modified().unwrap();
        assert_eq!(ask(), "one");
        fs::write(&program, "two").unwrap();
        fs::File::options().write(true).open(&program).unwrap().set_modified(time).unwrap();
        assert_eq!(ask(), "one", "same size and time: remembered");
        fs::write(&program, "three").unwrap();
        assert_eq!(ask(), "three", "another size: asked again");
    }
}
