//! Running one of NVIDIA's programs and keeping what it said.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::{Error, Message, Result};

/// A program and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
}

/// How a run ended.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    /// ptxas writes its figures here, too.
    pub(crate) stderr: String,
}

impl Tool {
    /// Runs the program to its end.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Output> {
        let mut command = Command::new(&self.path);
        command.args(args);
        tracing::debug!(?command, "run");
        let output =
            command.output().map_err(|source| Error::Launch { tool: self.name, path: self.path.clone(), source })?;
        Ok(Output {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// The release, such as `13.5`.
    pub(crate) fn version(&self) -> Result<String> {
        let output = self.run(["--version"])?;
        let release = output.stdout.lines().find_map(|line| line.split_once("release ")?.1.split(',').next());
        release.map(str::to_owned).ok_or_else(|| self.broken(&output))
    }

    /// The messages of a run.
    pub(crate) fn messages(&self, output: &Output) -> Vec<Message> {
        output.stderr.lines().filter_map(|line| Message::parse(self.name, line)).collect()
    }

    /// The error for a run that makes no sense.
    pub(crate) fn broken(&self, output: &Output) -> Error {
        let lines = output.stderr.lines().chain(output.stdout.lines());
        let last_line = lines.map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("(nothing)").to_owned();
        Error::Broken { tool: self.name, status: output.status, last_line }
    }
}

/// A path that no program takes for an option.
pub(crate) fn as_argument(path: &Path) -> PathBuf {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") { Path::new(".").join(path) } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_name_begins_like_an_option_is_no_option() {
        assert_eq!(as_argument(Path::new("-g.ptx")), Path::new("./-g.ptx"));
        assert_eq!(as_argument(Path::new("a/-g.ptx")), Path::new("a/-g.ptx"));
    }
}
