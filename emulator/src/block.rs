//! A block: its warps take turns until all have finished; barriers; who waits for what when none can go on.

use crate::counts::Tally;
use crate::exec::{Base, Done, Exec, LANES};
use crate::fault::{Fault, FaultKind};
use crate::launch::Env;
use crate::memory::Memory;
use crate::program::{File, Inst, NONE, Program};
use crate::races::lanes;
use crate::run::Pause;
use crate::shared::{Barrier, Shared};
use crate::warp::{Group, State, Warp};

/// What a barrier instruction does besides waiting, in `Inst::x`.
pub(crate) const BAR_SYNC: u32 = 0;
pub(crate) const BAR_ARRIVE: u32 = 1;
pub(crate) const BAR_POPC: u32 = 2;
pub(crate) const BAR_AND: u32 = 3;
pub(crate) const BAR_OR: u32 = 4;

/// What one core uses for block after block.
#[derive(Default)]
pub(crate) struct Worker {
    warps: Vec<Warp>,
    shared: Shared,
    pub tally: Option<Tally>,
}

impl Worker {
    /// A worker that counts into `tally`, if there is one.
    pub(crate) fn new(tally: Option<Tally>) -> Worker {
        Worker { tally, ..Worker::default() }
    }

    /// Runs a block to its end.
    pub(crate) fn block(
        &mut self,
        prog: &Program,
        env: &Env<'_>,
        mem: &Memory,
        block: [u32; 3],
    ) -> Result<(), Box<Fault>> {
        let n = env.threads().div_ceil(LANES as u32) as usize;
        self.warps.resize_with(n, Warp::default);
        self.shared.reset(&env.layout, n, env.track, env.races);
        let base = Base { func: env.kernel, ..Base::default() };
        for w in 0..n {
            self.warps[w].reset(w as u32, env.block, prog.funcs[env.kernel as usize].start, base);
            let mut x = self.exec(prog, env, mem, block, w);
            x.set_mask(x.w.exists);
            x.frame(base);
        }
        self.turns(prog, env, mem, block)
    }

    fn exec<'a>(
        &'a mut self,
        prog: &'a Program,
        env: &'a Env<'a>,
        mem: &'a Memory,
        block: [u32; 3],
        w: usize,
    ) -> Exec<'a> {
        Exec {
            prog,
            env,
            mem,
            w: &mut self.warps[w],
            sh: &mut self.shared,
            tally: self.tally.as_mut(),
            mask: !0,
            spread: [!0; LANES],
            base: Base::default(),
            pc: 0,
            fault: None,
            block,
            words: [[0; LANES]; 8],
            unwritten: [[0; LANES]; 8],
            any_unwritten: false,
        }
    }

    fn turns(&mut self, prog: &Program, env: &Env<'_>, mem: &Memory, block: [u32; 3]) -> Result<(), Box<Fault>> {
        loop {
            let (mut live, mut progress) = (false, false);
            for w in 0..self.warps.len() {
                if self.warps[w].done() {
                    continue;
                }
                live = true;
                let before = self.warps[w].steps;
                let mut x = self.exec(prog, env, mem, block, w);
                match x.run() {
                    Ok(Pause::Finished) => progress = true,
                    Ok(Pause::Waiting | Pause::Slice) => progress |= x.w.steps != before,
                    Err(_) => {
                        let (kind, lane) = x.fault.take().unwrap_or((FaultKind::Trap, 0));
                        let (pc, func) = (x.pc, x.base.func);
                        return Err(fault(prog, env, block, kind, pc, func, w as u32 * 32 + lane));
                    }
                }
                progress |= self.release(prog);
                if env.cancelled() {
                    return Ok(());
                }
            }
            if !live {
                return Ok(());
            }
            if !progress && !self.release_exited(prog, env) {
                return Err(self.stuck(prog, env, block));
            }
        }
    }

    /// Lets the threads of completed barriers go on. Gives whether there were any.
    fn release(&mut self, prog: &Program) -> bool {
        let ids = std::mem::take(&mut self.shared.released);
        let threads = self.warps.iter().map(|w| w.exists.count_ones()).sum::<u32>();
        for id in lanes(ids) {
            let bar = std::mem::take(&mut self.shared.barriers[id]);
            if bar.arrived >= threads {
                self.shared.races.block_barrier();
            } else {
                self.shared.races.partial_barrier(bar.warps);
            }
            for w in &mut self.warps {
                for k in 0..w.groups.len() {
                    if w.groups[k].state == (State::Barrier { id: id as u32 }) {
                        reduce(w, k, &prog.code[w.groups[k].pc as usize], &bar);
                        w.groups[k].pc += 1;
                        w.groups[k].state = State::Ready;
                    }
                }
            }
        }
        ids != 0
    }

    /// With `exited_threads_pass_barriers`: completes barriers where all who still run wait.
    fn release_exited(&mut self, prog: &Program, env: &Env<'_>) -> bool {
        if !env.exited_pass {
            return false;
        }
        let gone = self.warps.iter().map(|w| (w.exited & w.exists).count_ones()).sum::<u32>();
        for (id, b) in self.shared.barriers.iter().enumerate() {
            if b.arrived > 0 && b.arrived + gone >= b.expected {
                self.shared.released |= 1 << id;
            }
        }
        let any = self.release(prog);
        if any {
            self.shared.races.block_barrier();
        }
        any
    }

    /// The fault of a block in which nothing can run.
    fn stuck(&self, prog: &Program, env: &Env<'_>, block: [u32; 3]) -> Box<Fault> {
        for w in &self.warps {
            if let Some(g) = w.groups.iter().find(|g| g.state == State::Lanes) {
                let inst = &prog.code[g.pc as usize];
                let lane = g.mask.trailing_zeros();
                let mask = if inst.e.file == File::None {
                    !0
                } else {
                    w.r32[(g.base.r32 + inst.e.index) as usize][lane as usize]
                };
                let missing = self.whereabouts(prog, w, mask & !g.mask & !env.excused(w, inst));
                let kind = FaultKind::LanesMissing { mask, missing };
                return fault(prog, env, block, kind, g.pc, g.base.func, w.index * 32 + lane);
            }
        }
        let waits = self.waits();
        let Some(&(id, w, g)) = waits.first() else {
            return fault(prog, env, block, FaultKind::Deadlock { what: "no thread can run".into() }, 0, env.kernel, 0);
        };
        let (b, missing) = (self.shared.barriers[id as usize], self.absent(prog, id));
        let kind = if waits.len() > 1 {
            FaultKind::Deadlock { what: self.crossed(prog, &waits) }
        } else {
            FaultKind::BarrierNotReached { barrier: id, arrived: b.arrived, expected: b.expected, missing }
        };
        fault(prog, env, block, kind, g.pc, g.base.func, w.index * 32 + g.mask.trailing_zeros())
    }

    /// The barriers that threads wait at, and the first of them at each.
    fn waits(&self) -> Vec<(u32, &Warp, &Group)> {
        let mut waits: Vec<(u32, &Warp, &Group)> = Vec::new();
        for (w, g) in self.warps.iter().flat_map(|w| w.groups.iter().map(move |g| (w, g))) {
            match g.state {
                State::Barrier { id } if !waits.iter().any(|wait| wait.0 == id) => waits.push((id, w, g)),
                _ => {}
            }
        }
        waits
    }

    /// Who waits at which of several barriers.
    fn crossed(&self, prog: &Program, waits: &[(u32, &Warp, &Group)]) -> String {
        let parts = waits.iter().map(|(id, w, g)| {
            let b = self.shared.barriers[*id as usize];
            let (line, thread) = (prog.code[g.pc as usize].line, w.index * 32 + g.mask.trailing_zeros());
            format!("{} of {} threads wait at barrier {id} (thread {thread} at PTX line {line})", b.arrived, b.expected)
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Where the lanes of a mask are.
    fn whereabouts(&self, prog: &Program, w: &Warp, mask: u32) -> String {
        let mut parts = Vec::new();
        if mask & !w.exists != 0 {
            parts.push(format!("lanes {} have no thread", list(mask & !w.exists)));
        }
        let exited = mask & w.exited & w.exists;
        if exited != 0 {
            parts.push(format!("lanes {} have exited", list(exited)));
        }
        for g in w.groups.iter().filter(|g| g.mask & mask != 0) {
            let inst = &prog.code[g.pc as usize];
            let what = prog.name(inst);
            parts.push(format!("lanes {} wait at PTX line {} (`{what}`)", list(g.mask & mask), inst.line));
        }
        if parts.is_empty() { "the lanes name different masks".into() } else { parts.join(", ") }
    }

    /// Where the threads are that a barrier lacks.
    fn absent(&self, prog: &Program, id: u32) -> String {
        let mut parts = Vec::new();
        let mut exited = 0;
        for w in &self.warps {
            exited += (w.exited & w.exists).count_ones();
            for g in w.groups.iter().filter(|g| g.state != State::Barrier { id }) {
                let inst = &prog.code[g.pc as usize];
                let lane = w.index * 32 + g.mask.trailing_zeros();
                let n = g.mask.count_ones();
                parts.push(format!("{n} from thread {lane} wait at PTX line {} (`{}`)", inst.line, prog.name(inst)));
                if parts.len() == 4 {
                    parts.push("…".into());
                    return parts.join(", ");
                }
            }
        }
        if exited > 0 {
            parts.insert(0, format!("{exited} have exited"));
        }
        if parts.is_empty() { "no other thread comes".into() } else { parts.join(", ") }
    }
}

/// Writes the result of `bar.red` for a group.
fn reduce(w: &mut Warp, k: usize, inst: &Inst, bar: &Barrier) {
    let g = &w.groups[k];
    if inst.x == BAR_POPC {
        for l in lanes(g.mask) {
            w.r32[(g.base.r32 + inst.d.index) as usize][l] = bar.votes;
        }
    } else if inst.x == BAR_AND || inst.x == BAR_OR {
        let held = if inst.x == BAR_AND { bar.votes == bar.voters } else { bar.votes > 0 };
        let p = &mut w.preds[(g.base.pred + inst.d.index) as usize];
        *p = if held { *p | g.mask } else { *p & !g.mask };
    }
}

/// `0-3, 7` for a mask.
fn list(mask: u32) -> String {
    let mut out = Vec::new();
    let mut l = 0;
    while l < 32 {
        if mask >> l & 1 == 0 {
            l += 1;
            continue;
        }
        let start = l;
        while l < 32 && mask >> l & 1 != 0 {
            l += 1;
        }
        out.push(if l - start == 1 { start.to_string() } else { format!("{start}-{}", l - 1) });
    }
    out.join(", ")
}

fn fault(prog: &Program, env: &Env<'_>, block: [u32; 3], kind: FaultKind, pc: u32, func: u32, tid: u32) -> Box<Fault> {
    let inst = &prog.code[pc as usize];
    let source = match prog.locs.get(inst.loc as usize) {
        Some((l, _)) if inst.loc != NONE => {
            Some((prog.files.get(&l.file).cloned().unwrap_or_default(), l.line, l.column))
        }
        _ => None,
    };
    let [x, y, _] = env.block.map(|d| d.max(1));
    Box::new(Fault {
        kind,
        kernel: prog.funcs[env.kernel as usize].name.clone(),
        function: prog.funcs[func as usize].name.clone(),
        instruction: prog.name(inst).to_owned(),
        ptx_line: inst.line,
        source,
        block,
        thread: [tid % x, tid / x % y, tid / x / y],
    })
}

impl Exec<'_> {
    /// Group `k` comes to a barrier.
    pub(crate) fn arrive(&mut self, k: usize, inst: &Inst) -> Done {
        let on = self.mask;
        let lane = self.first();
        let ids = self.get32(inst.a);
        let id = ids[lane];
        if id >= 16 || lanes(on).any(|l| ids[l] != id) {
            return self.stop(
                lane,
                FaultKind::Operand(format!("a barrier number must be the same in all lanes and below 16, not {id}")),
            );
        }
        let whole = self.env.threads();
        let expected = match inst.b.file {
            File::None => whole,
            _ => self.get32(inst.b)[lane],
        };
        if expected == 0 || expected % 32 != 0 && expected != whole || expected > whole.next_multiple_of(32) {
            return self.stop(
                lane,
                FaultKind::Operand(format!(
                    "a barrier for {expected} threads in a block of {whole}: it must be a multiple of 32"
                )),
            );
        }
        let votes = if inst.x >= BAR_POPC { (self.pred(inst.c) & on).count_ones() } else { 0 };
        let warp = self.w.index;
        let (exists, exited) = (self.w.exists, self.w.exited);
        let bar = &mut self.sh.barriers[id as usize];
        if bar.arrived > 0 && bar.expected != expected {
            let other = bar.expected;
            return self.stop(
                lane,
                FaultKind::Operand(format!(
                    "barrier {id} is waited for with {expected} threads here and {other} elsewhere"
                )),
            );
        }
        bar.expected = expected;
        bar.arrived += on.count_ones();
        // A count names whole warps: lanes that have no thread count as come with the first of theirs.
        if expected != whole && bar.warps >> warp & 1 == 0 {
            bar.arrived +=
                (!exists).count_ones() + if self.env.exited_pass { (exited & exists).count_ones() } else { 0 };
        }
        bar.warps |= 1 << warp;
        bar.votes += votes;
        bar.voters += on.count_ones();
        let complete = bar.arrived >= bar.expected;
        if inst.x == BAR_ARRIVE {
            self.w.groups[k].pc += 1;
        } else {
            self.w.groups[k].state = State::Barrier { id };
        }
        if complete {
            self.sh.released |= 1 << id;
        }
        Ok(())
    }
}
