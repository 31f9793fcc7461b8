//! Special registers: who a thread is, what it was launched with, clocks.
//!
//! `%clock` and its kin count the warp's instructions; `%smid` and the like describe one multiprocessor that runs it
//! all. Each block is a cluster of its own, and no launch is cooperative (`%envreg1` and `%envreg2` are zero).

use crate::exec::{Done, Exec, LANES};
use crate::program::{File, Inst};

macro_rules! specials {
    ($($id:ident $name:literal $file:ident;)*) => {
        /// A special register.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Special { $($id),* }

        const ALL: &[(&str, Special, File)] = &[$(($name, Special::$id, File::$file)),*];
    };
}

specials! {
    TidX "%tid.x" R32; TidY "%tid.y" R32; TidZ "%tid.z" R32;
    NtidX "%ntid.x" R32; NtidY "%ntid.y" R32; NtidZ "%ntid.z" R32;
    CtaidX "%ctaid.x" R32; CtaidY "%ctaid.y" R32; CtaidZ "%ctaid.z" R32;
    NctaidX "%nctaid.x" R32; NctaidY "%nctaid.y" R32; NctaidZ "%nctaid.z" R32;
    Laneid "%laneid" R32; Warpid "%warpid" R32; Nwarpid "%nwarpid" R32;
    Smid "%smid" R32; Nsmid "%nsmid" R32; Gridid "%gridid" R64;
    MaskEq "%lanemask_eq" R32; MaskLe "%lanemask_le" R32; MaskLt "%lanemask_lt" R32;
    MaskGe "%lanemask_ge" R32; MaskGt "%lanemask_gt" R32;
    Clock "%clock" R32; ClockHi "%clock_hi" R32; Clock64 "%clock64" R64;
    Timer "%globaltimer" R64; TimerLo "%globaltimer_lo" R32; TimerHi "%globaltimer_hi" R32;
    DynamicShared "%dynamic_smem_size" R32; TotalShared "%total_smem_size" R32;
    ClusterX "%cluster_ctaid.x" R32; ClusterY "%cluster_ctaid.y" R32; ClusterZ "%cluster_ctaid.z" R32;
    ClusterNctaX "%cluster_nctaid.x" R32; ClusterNctaY "%cluster_nctaid.y" R32; ClusterNctaZ "%cluster_nctaid.z" R32;
    ClusterRank "%cluster_ctarank" R32; ClusterNrank "%cluster_nctarank" R32;
    ClusteridX "%clusterid.x" R32; ClusteridY "%clusterid.y" R32; ClusteridZ "%clusterid.z" R32;
    NclusteridX "%nclusterid.x" R32; NclusteridY "%nclusterid.y" R32; NclusteridZ "%nclusterid.z" R32;
    Envreg1 "%envreg1" R32; Envreg2 "%envreg2" R32;
}

/// The special register of a name.
pub(crate) fn find(name: &str) -> Option<Special> {
    ALL.iter().find(|s| s.0 == name).map(|s| s.1)
}

/// All their names, for the documentation.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|s| s.0)
}

impl Special {
    /// The file its value fits.
    pub(crate) fn file(self) -> File {
        ALL[self as usize].2
    }
}

/// Reads the special register `x`.
pub(crate) fn read(x: &mut Exec<'_>, i: &Inst) -> Done {
    let which = ALL[i.x as usize].1;
    let e = x.env;
    let same = match which {
        Special::TidX => return lanes(x, i, |x, l| x.w.tid[0][l]),
        Special::TidY => return lanes(x, i, |x, l| x.w.tid[1][l]),
        Special::TidZ => return lanes(x, i, |x, l| x.w.tid[2][l]),
        Special::Laneid => return lanes(x, i, |_, l| l as u32),
        Special::MaskEq => return lanes(x, i, |_, l| 1 << l),
        Special::MaskLe => return lanes(x, i, |_, l| !0 >> (31 - l)),
        Special::MaskLt => return lanes(x, i, |_, l| (1 << l) - 1),
        Special::MaskGe => return lanes(x, i, |_, l| !0 << l),
        Special::MaskGt => return lanes(x, i, |_, l| !1 << l),
        Special::NtidX => u64::from(e.block[0]),
        Special::NtidY => u64::from(e.block[1]),
        Special::NtidZ => u64::from(e.block[2]),
        Special::CtaidX | Special::ClusteridX => u64::from(x.block[0]),
        Special::CtaidY | Special::ClusteridY => u64::from(x.block[1]),
        Special::CtaidZ | Special::ClusteridZ => u64::from(x.block[2]),
        Special::NctaidX | Special::NclusteridX => u64::from(e.grid[0]),
        Special::NctaidY | Special::NclusteridY => u64::from(e.grid[1]),
        Special::NctaidZ | Special::NclusteridZ => u64::from(e.grid[2]),
        Special::Warpid => u64::from(x.w.index),
        Special::Nwarpid => u64::from(e.threads().div_ceil(32)),
        Special::Smid | Special::Gridid | Special::Envreg1 | Special::Envreg2 => 0,
        Special::ClusterX | Special::ClusterY | Special::ClusterZ | Special::ClusterRank => 0,
        Special::ClusterNctaX | Special::ClusterNctaY | Special::ClusterNctaZ | Special::ClusterNrank => 1,
        Special::Nsmid => 1,
        Special::Clock | Special::Clock64 | Special::Timer | Special::TimerLo => x.w.steps,
        Special::ClockHi | Special::TimerHi => x.w.steps >> 32,
        Special::DynamicShared => u64::from(e.dynamic_shared),
        Special::TotalShared => u64::from(e.layout.used),
    };
    x.put_any(i.d, &[same; LANES]);
    Ok(())
}

fn lanes(x: &mut Exec<'_>, i: &Inst, f: impl Fn(&Exec<'_>, usize) -> u32) -> Done {
    let v = std::array::from_fn(|l| f(x, l));
    x.put32(i.d, &v);
    Ok(())
}
