//! The report as a table for people: state, thing, detail, and below a thing that can be got, how.

use std::fmt;

use super::{Report, State};

const MARKS: [(State, &str); 3] = [(State::Here, "here"), (State::Later, "later"), (State::Missing, "missing")];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
        for finding in &self.findings {
            let mark = MARKS.iter().find(|(state, _)| *state == finding.state).map_or("", |(_, mark)| mark);
            writeln!(f, "{mark:7}  {:width$}  {}", finding.name, finding.detail)?;
            if let Some(remedy) = &finding.remedy {
                writeln!(f, "{:7}  {:width$}  -> {remedy}", "", "")?;
            }
        }
        f.write_str(if self.can_build {
            "\nKernels can be built."
        } else {
            "\nKernels cannot be built yet: see above."
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::doctor::{Finding, Report};

    #[test]
    fn columns_line_up_and_remedies_stand_below() {
        let findings = vec![
            Finding::here("Rust", "1.96.0 in /tools"),
            Finding::later("device sysroot", "the first build makes it"),
            Finding::missing("cc", "not on the search path", "install gcc"),
        ];
        let expected = "\
here     Rust            1.96.0 in /tools
later    device sysroot  the first build makes it
missing  cc              not on the search path
                         -> install gcc

Kernels cannot be built yet: see above.";
        assert_eq!(Report { can_build: false, findings }.to_string(), expected);
    }
}
