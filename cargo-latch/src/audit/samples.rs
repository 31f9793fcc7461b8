//! A report for tests.

use hint_record::{HintKind, NoLoop, Reason, Status};

use super::entry::{Entry, Hint, Instance, Kernel};
use crate::build::{Mode, Profile, Route};

/// One kernel, and two hints of which one is dropped.
pub fn entry() -> Entry {
    let arch = "sm_90".parse().expect("an architecture");
    Entry {
        package: "sample".to_owned(),
        arch,
        route: Route::Llc,
        mode: Mode::Llvm,
        profile: Profile::Release,
        hints: vec![
            hint(3, &[("taps", None)]),
            hint(9, &[("f::<1>", Some(Reason::NoLoop(NoLoop::NeverRepeats))), ("f::<2>", None)]),
        ],
        kernels: vec![kernel()],
        findings: Vec::new(),
    }
}

/// A hint in functions, each with the reason that it was dropped for.
pub fn hint(line: u32, functions: &[(&str, Option<Reason>)]) -> Hint {
    let status = |reason: &Option<Reason>| if reason.is_some() { Status::Dropped } else { Status::Honoured };
    let instance = |(function, reason): &(&str, Option<Reason>)| Instance {
        function: (*function).to_owned(),
        status: status(reason),
        why: (*reason).into(),
        loops_after_opt: 1,
    };
    let reason = functions.iter().find_map(|(_, reason)| *reason);
    Hint {
        file: "src/lib.rs".to_owned(),
        line,
        column: 5,
        extent: None,
        kind: HintKind::Nounroll,
        request: None,
        status: status(&reason),
        why: reason.into(),
        instances: functions.iter().map(instance).collect(),
    }
}

/// A kernel that has something of everything.
pub fn kernel() -> Kernel {
    Kernel {
        name: "taps".to_owned(),
        marked_latches: 1,
        pragmas: 1,
        registers: Some(32),
        spill_bytes: Some(8),
        stack_bytes: Some(16),
        shared_bytes: Some(0),
        sass: Some(sass::Counts {
            loops: 1,
            instructions: 99,
            global_loads: 2,
            global_stores: 1,
            local_loads: 3,
            local_stores: 1,
            calls: 1,
            helper_calls: 0,
        }),
    }
}
