//! Held against the machine code: whether an instance of a hint was honoured.
//!
//! The linker's report says what LLVM has left of a hint, and which loops of the PTX are made of it. Here the last word
//! is spoken, by what became of those loops in every kernel that holds code of their function ([`Fate`]):
//!
//! | hint | honoured where |
//! |---|---|
//! | `nounroll` | every such kernel has a loop left of one of them, which makes one turn at a time |
//! | `unroll` | no loop of it is left, neither by LLVM nor by ptxas |
//! | `unroll(N)` | LLVM made a loop of N copies, or left none; what ptxas leaves of that loop is as good |
//!
//! Where that cannot be told, the hint is not verified. A build for debugging, and AMD's assembly, are taken from the
//! optimizer as they are: nothing unrolls there.

use hint_record::{HintRecord, PtxLoop, Reason, Request, Status};

use super::machine::{Fate, KernelCode, MachineCode, Verdict};

/// The machine code that hints are held against.
#[derive(Debug, Clone, Copy)]
pub enum Evidence<'a> {
    /// It was looked at.
    Seen(&'a MachineCode),
    /// Nothing comes after the optimizer that would unroll.
    NotNeeded,
    /// It should have been looked at, and there is no ptxas.
    NoPtxas,
}

/// What became of an instance of a hint, and why it was not honoured.
pub fn judge(record: &HintRecord, evidence: Evidence<'_>) -> (Status, Option<Reason>) {
    match (record.status, evidence) {
        (_, Evidence::NotNeeded) | (Status::NotCompiled | Status::Unverified, _) => (record.status, record.reason),
        (Status::Dropped, Evidence::Seen(code)) if is_unrolled_by_ptxas(record, code) => (Status::Honoured, None),
        (Status::Dropped, _) => (record.status, record.reason),
        (Status::Honoured, Evidence::NoPtxas) => (Status::Unverified, Some(Reason::NoPtxas)),
        (Status::Honoured, Evidence::Seen(code)) => honoured(record, code),
    }
}

/// LLVM has left a loop of one that is to be unrolled fully, and ptxas has left none.
fn is_unrolled_by_ptxas(record: &HintRecord, code: &MachineCode) -> bool {
    let loops = record.ptx.as_deref().unwrap_or_default();
    let mut fates = code.kernels.iter().flat_map(|kernel| fates(kernel, loops)).peekable();
    record.request == Request::Full && fates.peek().is_some() && fates.all(|fate| fate.verdict == Verdict::Gone)
}

fn honoured(record: &HintRecord, code: &MachineCode) -> (Status, Option<Reason>) {
    let Some(loops) = &record.ptx else { return (Status::Unverified, Some(Reason::Unmatched)) };
    let by_kernel: Vec<Vec<&Fate>> = code.kernels.iter().map(|kernel| fates(kernel, loops).collect()).collect();
    let judged = by_kernel.iter().filter(|fates| !fates.is_empty()).map(|fates| in_kernel(record.request, fates));
    let worst = judged.max().unwrap_or(match record.request {
        // No loop was left to look for.
        Request::Full | Request::Copies(_) if loops.is_empty() => Seen::AsAsked,
        _ => Seen::NotTold,
    });
    match worst {
        Seen::AsAsked => (Status::Honoured, None),
        Seen::NotTold => (Status::Unverified, Some(Reason::Unmatched)),
        Seen::Otherwise => (Status::Dropped, Some(Reason::MachineCode)),
    }
}

/// What one kernel shows, the better first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    AsAsked,
    NotTold,
    Otherwise,
}

fn in_kernel(request: Request, fates: &[&Fate]) -> Seen {
    let is_rolled = |fate: &&Fate| fate.verdict == Verdict::Alive && fate.copies <= 1;
    let is_told = fates.iter().all(|fate| fate.verdict != Verdict::NotProved);
    match request {
        Request::Nounroll if fates.iter().any(is_rolled) => Seen::AsAsked,
        Request::Nounroll if is_told => Seen::Otherwise,
        Request::Full if fates.iter().all(|fate| fate.verdict == Verdict::Gone) => Seen::AsAsked,
        Request::Full if is_told => Seen::Otherwise,
        Request::Copies(_) if is_told => Seen::AsAsked,
        _ => Seen::NotTold,
    }
}

/// What became of the loops in a kernel; nothing of those whose function has no code there.
fn fates<'a>(kernel: &'a KernelCode, loops: &'a [PtxLoop]) -> impl Iterator<Item = &'a Fate> {
    loops.iter().filter_map(|found| kernel.fate(&found.symbol, &found.label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Alive, Gone, NotProved};

    fn record(request: Request, labels: &[&str]) -> HintRecord {
        let ptx = |label: &&str| PtxLoop { symbol: "f".to_owned(), label: (*label).to_owned() };
        HintRecord {
            site: "nounroll|k|src/lib.rs|1|1".parse().expect("a site"),
            request,
            function: "f".to_owned(),
            symbol: "f".to_owned(),
            loops: Vec::new(),
            status: Status::Honoured,
            reason: None,
            left: Vec::new(),
            ptx: Some(labels.iter().map(ptx).collect()),
        }
    }

    /// A kernel for each list: a label, what became of its loop, and in how many copies.
    fn code(kernels: &[&[(&str, Verdict, u32)]]) -> MachineCode {
        let kernel = |fates: &&[(&str, Verdict, u32)]| {
            let fate = |&(label, verdict, copies): &(&str, Verdict, u32)| Fate {
                function: "f".to_owned(),
                labels: vec![label.to_owned()],
                verdict,
                copies,
                loops: Vec::new(),
            };
            let fates = fates.iter().map(fate).collect();
            KernelCode { name: "k".to_owned(), loops: Vec::new(), costs: Vec::new(), fates }
        };
        MachineCode::of_kernels(kernels.iter().map(kernel).collect(), false)
    }

    #[track_caller]
    fn check(
        request: Request,
        labels: &[&str],
        kernels: &[&[(&str, Verdict, u32)]],
        expected: (Status, Option<Reason>),
    ) {
        assert_eq!(judge(&record(request, labels), Evidence::Seen(&code(kernels))), expected);
    }

    const HONOURED: (Status, Option<Reason>) = (Status::Honoured, None);
    const UNROLLED: (Status, Option<Reason>) = (Status::Dropped, Some(Reason::MachineCode));
    const UNKNOWN: (Status, Option<Reason>) = (Status::Unverified, Some(Reason::Unmatched));

    #[test]
    fn a_rolled_loop_is_seen_in_every_kernel_or_the_hint_is_dropped() {
        let nounroll = |labels: &[&str], kernels: &[&[(&str, Verdict, u32)]], expected| {
            check(Request::Nounroll, labels, kernels, expected);
        };
        nounroll(&["a"], &[&[("a", Alive, 1)]], HONOURED);
        nounroll(&["a"], &[&[("a", Gone, 0)]], UNROLLED);
        nounroll(&["a"], &[&[("a", Alive, 4)]], UNROLLED);
        nounroll(&["a"], &[&[("a", NotProved, 0)]], UNKNOWN);
        nounroll(&["a", "b"], &[&[("a", Gone, 0), ("b", Alive, 1)]], HONOURED);
        nounroll(&["a"], &[&[("a", Alive, 1)], &[("a", Gone, 0)]], UNROLLED);
        nounroll(&["a"], &[&[("a", Alive, 1)], &[]], HONOURED);
        nounroll(&["a"], &[&[("b", Alive, 1)]], UNKNOWN);
        nounroll(&[], &[&[("b", Alive, 1)]], UNKNOWN);
    }

    #[test]
    fn of_an_unrolled_loop_none_is_left() {
        check(Request::Full, &[], &[&[("a", Alive, 1)]], HONOURED);
        check(Request::Copies(4), &[], &[&[]], HONOURED);
        check(Request::Copies(4), &["a"], &[&[("a", Alive, 1)]], HONOURED);
        check(Request::Copies(4), &["a"], &[&[("a", Gone, 0)]], HONOURED);
        check(Request::Copies(4), &["a"], &[&[("a", NotProved, 0)]], UNKNOWN);
        let mut left = record(Request::Full, &["a"]);
        (left.status, left.reason) = (Status::Dropped, Some(Reason::Unsaid));
        let seen = |verdict| judge(&left, Evidence::Seen(&code(&[&[("a", verdict, 1)]])));
        assert_eq!([seen(Gone), seen(Alive)], [HONOURED, (Status::Dropped, Some(Reason::Unsaid))]);
    }

    #[test]
    fn what_was_not_looked_at_is_not_verified_unless_it_need_not_be() {
        let hint = record(Request::Nounroll, &["a"]);
        assert_eq!(judge(&hint, Evidence::NotNeeded), HONOURED);
        assert_eq!(judge(&hint, Evidence::NoPtxas), (Status::Unverified, Some(Reason::NoPtxas)));
        let untold = HintRecord { ptx: None, ..hint };
        assert_eq!(judge(&untold, Evidence::Seen(&code(&[]))), UNKNOWN);
    }
}
