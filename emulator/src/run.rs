//! The loop that runs a warp: picks a group, runs its instructions, follows branches and calls.
//!
//! What an instruction computes is its own function's business; here is control flow and what lanes wait for.

use crate::exec::{Base, Done, Exec, LANES, Stopped};
use crate::fault::FaultKind;
use crate::memory::{CODE_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, WINDOW_BITS, WRITTEN};
use crate::program::*;
use crate::races::lanes;
use crate::warp::{Frame, State};

/// Backward branches a group may take while others could run.
const SPIN: u32 = 256;
/// Instructions a warp runs before another one of its block gets a turn.
const SLICE: u64 = 1 << 16;
/// Calls may nest this deep.
const MAX_DEPTH: usize = 2048;

/// Why a warp stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// All lanes have exited.
    Finished,
    /// No group can run.
    Waiting,
    /// Its slice is over.
    Slice,
}

/// What the inner loop does after an instruction.
enum Next {
    Go,
    Pick,
}

impl Exec<'_> {
    /// Runs the warp until it waits, finishes or has had its slice.
    pub(crate) fn run(&mut self) -> Result<Pause, Stopped> {
        let end = self.w.steps.saturating_add(SLICE);
        loop {
            if self.w.done() {
                return Ok(Pause::Finished);
            }
            let Some(k) = self.w.pick() else { return Ok(Pause::Waiting) };
            // A barrier that completed is released by the block, which owns the other warps.
            if self.w.steps >= end || self.sh.released != 0 {
                return Ok(Pause::Slice);
            }
            self.run_group(k, end)?;
        }
    }

    fn run_group(&mut self, k: usize, end: u64) -> Done {
        let mut limit = self.w.limit(k);
        let mut spins = 0;
        // It keeps its lanes as long as it runs here: what splits a group, or gives it lanes, ends its turn.
        let mask = self.w.groups[k].mask;
        self.base = self.w.groups[k].base;
        self.pc = self.w.groups[k].pc;
        self.check_steps()?;
        let mut start = self.pc;
        let prog = self.prog;
        loop {
            let pc = self.pc;
            let inst = &prog.code[pc as usize];
            let mut on = mask;
            if inst.guard != NONE {
                on &= self.w.preds[(self.base.pred + inst.guard) as usize] ^ inst.guard_flip;
            }
            self.w.steps += 1;
            if on != mask
                && let Some(t) = self.tally.as_deref_mut()
            {
                t.guarded_off(pc, (mask & !on).count_ones());
            }
            self.set_mask(on);
            let next = if inst.flow == Flow::Plain {
                if on != 0 {
                    if self.w.taints.any() {
                        self.taint(inst)?;
                    }
                    (inst.exec)(self, inst)?;
                }
                self.pc = pc + 1;
                Next::Go
            } else {
                self.flow(k, inst, mask, on)?
            };
            if matches!(next, Next::Pick) {
                self.executed(start, pc + 1, mask);
                return Ok(());
            }
            if self.pc != pc + 1 {
                self.executed(start, pc + 1, mask);
                start = self.pc;
            }
            let back = self.pc <= pc;
            let out_of_turn = if back {
                spins += 1;
                self.check_steps()?;
                limit = if limit == u32::MAX { limit } else { self.refreshed_limit(k) };
                let starving = spins > SPIN && self.w.others_ready(k);
                if starving {
                    self.w.groups[k].penalty += 1;
                }
                starving
            } else {
                false
            };
            if self.pc >= limit || out_of_turn || self.w.steps >= end {
                if start != self.pc {
                    self.executed(start, self.pc, mask);
                }
                self.w.groups[k].pc = self.pc;
                return Ok(());
            }
        }
    }

    /// Counts a stretch of instructions that the lanes of a mask executed one after another.
    #[inline]
    fn executed(&mut self, start: u32, end: u32, mask: u32) {
        if let Some(t) = self.tally.as_deref_mut() {
            t.executed(start, end, mask.count_ones());
        }
    }

    /// A fault if the warp has had all its steps. Asked at backward branches and where groups change, so that every
    /// endless run meets it.
    fn check_steps(&mut self) -> Done {
        if self.w.steps <= self.env.step_limit {
            return Ok(());
        }
        let limit = self.env.step_limit;
        let lane = self.first();
        self.stop(lane, FaultKind::StepLimit { limit })
    }

    fn refreshed_limit(&mut self, k: usize) -> u32 {
        self.w.groups[k].pc = self.pc;
        self.w.limit(k)
    }

    fn flow(&mut self, k: usize, inst: &Inst, mask: u32, on: u32) -> Result<Next, Stopped> {
        let pc = self.pc;
        match inst.flow {
            Flow::Branch => return Ok(self.branch(k, inst.target, mask, on)),
            Flow::Plain => {}
            _ if on == 0 => {
                self.pc = pc + 1;
                return Ok(Next::Go);
            }
            Flow::Indexed => {
                self.reject(inst.a)?;
                return self.indexed(k, inst, mask, on);
            }
            Flow::Call | Flow::Return | Flow::Exit | Flow::Warp | Flow::Barrier => {
                // Lanes whose guard is off go on alone.
                let k = if on == mask {
                    k
                } else {
                    self.w.groups[k].pc = pc + 1;
                    self.w.split(k, on, pc)
                };
                match inst.flow {
                    Flow::Call => self.call(k, inst)?,
                    Flow::Return => self.ret(k)?,
                    Flow::Exit => self.exit(k, on)?,
                    Flow::Barrier => {
                        self.w.groups[k].pc = pc;
                        self.reject(inst.a)?;
                        self.reject(inst.b)?;
                        self.arrive(k, inst)?;
                    }
                    _ => {
                        self.w.groups[k].pc = pc;
                        if self.warp_op(k, inst)? && on == mask {
                            self.pc = pc + 1;
                            return Ok(Next::Go);
                        }
                    }
                }
                return Ok(Next::Pick);
            }
        }
        Ok(Next::Go)
    }

    fn branch(&mut self, k: usize, target: u32, mask: u32, on: u32) -> Next {
        if on == mask {
            self.pc = target;
            Next::Go
        } else if on == 0 {
            self.pc += 1;
            Next::Go
        } else {
            let pc = self.pc;
            self.count_divergence();
            self.w.groups[k].pc = pc + 1;
            self.w.split(k, on, target);
            Next::Pick
        }
    }

    fn count_divergence(&mut self) {
        let pc = self.pc as usize;
        if let Some(t) = self.tally.as_deref_mut() {
            t.per[pc].divergent += 1;
        }
    }

    fn indexed(&mut self, k: usize, inst: &Inst, mask: u32, on: u32) -> Result<Next, Stopped> {
        let index = self.get32(inst.a);
        let prog = self.prog;
        let targets = &prog.targets[inst.list.0 as usize..][..inst.list.1 as usize];
        let mut left = on;
        let pc = self.pc;
        if on != mask {
            self.w.groups[k].pc = pc + 1;
        }
        let mut at = Vec::new();
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let Some(&t) = targets.get(index[lane] as usize) else {
                let n = targets.len();
                return self
                    .stop(lane, FaultKind::Operand(format!("brx.idx with index {} of {n} targets", index[lane])));
            };
            let part = lanes(left).filter(|&l| index[l] == index[lane]).fold(0, |m, l| m | 1 << l);
            left &= !part;
            at.push((part, t));
        }
        if let [(part, t)] = at[..]
            && part == mask
        {
            self.pc = t;
            return Ok(Next::Go);
        }
        self.count_divergence();
        for (part, t) in at {
            if part == self.w.groups[k].mask {
                self.w.groups[k].pc = t;
            } else {
                self.w.split(k, part, t);
            }
        }
        Ok(Next::Pick)
    }

    fn exit(&mut self, k: usize, on: u32) -> Done {
        self.w.exited |= on;
        self.w.groups.swap_remove(k);
        // Those who waited for it need not any more.
        if self.env.exited_lanes_pass { self.complete_warp_ops() } else { Ok(()) }
    }

    fn call(&mut self, k: usize, inst: &Inst) -> Done {
        let prog = self.prog;
        let site = &prog.calls[inst.x as usize];
        let Callee::Function(f) = site.callee else { return self.call_register(k, inst) };
        self.enter(k, f, site)
    }

    /// A call through a register: lanes with different callees part.
    fn call_register(&mut self, k: usize, inst: &Inst) -> Done {
        let prog = self.prog;
        let site = &prog.calls[inst.x as usize];
        self.reject(inst.a)?;
        let address = self.get64(inst.a);
        let pc = self.pc;
        let mut left = self.w.groups[k].mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let part = lanes(left).filter(|&l| address[l] == address[lane]).fold(0, |m, l| m | 1 << l);
            let f = (address[lane] & ((1 << WINDOW_BITS) - 1)) as u32;
            let known = address[lane] >> WINDOW_BITS == CODE_WINDOW
                && prog.funcs.get(f as usize).is_some_and(|t| {
                    !t.entry
                        && t.params.len() == site.args.len()
                        && t.results.len() == site.results.len()
                        && t.params.iter().zip(&site.args).all(|(p, a)| p.bytes == a.1)
                        && t.results.iter().zip(&site.results).all(|(p, a)| p.bytes == a.1)
                });
            if !known {
                return self.stop(lane, FaultKind::BadCall);
            }
            let g = if part == self.w.groups[k].mask { k } else { self.w.split(k, part, pc) };
            self.set_mask(part);
            self.enter(g, f, site)?;
            left &= !part;
        }
        Ok(())
    }

    /// Pushes a frame for function `f` on group `k`, whose lanes are the mask.
    fn enter(&mut self, k: usize, f: u32, site: &CallSite) -> Done {
        let prog = self.prog;
        let callee = &prog.funcs[f as usize];
        let lane = self.first();
        if callee.start == NONE {
            return self.unresolved(k, &callee.name, site);
        }
        let old = self.base;
        let from = &prog.funcs[old.func as usize];
        let new = Base {
            func: f,
            r32: old.r32 + from.regs32,
            r64: old.r64 + from.regs64,
            pred: old.pred + from.preds,
            local: old.local + from.frame_bytes,
        };
        if self.w.groups[k].frames.len() >= MAX_DEPTH || new.local + callee.frame_bytes > self.env.local_limit {
            return self.stop(lane, FaultKind::StackOverflow);
        }
        self.frame(new);
        for (p, &(caller, bytes)) in callee.params.iter().zip(&site.args) {
            self.copy_words(old.local + caller, new.local + p.offset, bytes);
        }
        let g = &mut self.w.groups[k];
        g.frames.push(Frame { ret: self.pc + 1, base: old });
        g.base = new;
        g.pc = callee.start;
        Ok(())
    }

    /// Prepares registers, constants and local memory of a frame for the lanes of the mask.
    pub(crate) fn frame(&mut self, base: Base) {
        let prog = self.prog;
        let f = &prog.funcs[base.func as usize];
        self.w.reserve(base.r32 + f.regs32, base.r64 + f.regs64, base.pred + f.preds, base.local + f.frame_bytes);
        if self.w.taints.any() {
            self.w.taints.forget(base.r32, base.r64, self.mask);
        }
        let words = (base.local / 4) as usize..((base.local + f.frame_bytes) as usize).div_ceil(4);
        for w in words {
            for l in lanes(self.mask) {
                self.w.local_written[w * LANES + l] = 0;
            }
        }
        let caller = std::mem::replace(&mut self.base, base);
        for &(reg, c) in &f.consts {
            let v = self.constant(c);
            self.put_any(reg, &[v; LANES]);
        }
        self.base = caller;
    }

    fn constant(&self, c: Const) -> u64 {
        match c {
            Const::Bits(b) => b,
            Const::Shared(v, off) => {
                u64::from(self.env.layout.offsets[v as usize].unwrap_or(0)).wrapping_add(off as u64)
            }
            Const::Global(v, off) => self.env.globals[v as usize].wrapping_add(off as u64),
            Const::Local(off) => {
                (LOCAL_WINDOW << WINDOW_BITS).wrapping_add(u64::from(self.base.local)).wrapping_add(off as u64)
            }
            Const::KernelParam(off) => (PARAM_WINDOW << WINDOW_BITS).wrapping_add(off as u64),
            Const::Function(f) => CODE_WINDOW << WINDOW_BITS | u64::from(f),
        }
    }

    /// Copies words of local memory, marks included, for the lanes of the mask.
    fn copy_words(&mut self, from: u32, to: u32, bytes: u32) {
        for k in 0..bytes.div_ceil(4) {
            let (f, t) = ((from / 4 + k) as usize * LANES, (to / 4 + k) as usize * LANES);
            for l in lanes(self.mask) {
                self.w.local[t + l] = self.w.local[f + l];
                self.w.local_written[t + l] = self.w.local_written[f + l];
            }
        }
    }

    fn ret(&mut self, k: usize) -> Done {
        let Some(frame) = self.w.groups[k].frames.pop() else { return self.exit(k, self.mask) };
        let prog = self.prog;
        let call = &prog.code[(frame.ret - 1) as usize];
        let site = &prog.calls[call.x as usize];
        let callee = &prog.funcs[self.base.func as usize];
        for (p, &(caller, bytes)) in callee.results.iter().zip(&site.results) {
            self.copy_words(self.base.local + p.offset, frame.base.local + caller, bytes);
        }
        let g = &mut self.w.groups[k];
        g.base = frame.base;
        g.pc = frame.ret;
        Ok(())
    }

    /// A call of a function the module only declares. The C++ runtime's two are known.
    fn unresolved(&mut self, k: usize, name: &str, site: &CallSite) -> Done {
        let lane = self.first();
        if name != "vprintf" && name != "__assertfail" {
            return self.stop(lane, FaultKind::Unresolved(name.to_owned()));
        }
        if name == "__assertfail" {
            let text = site.args.first().map(|a| self.string_arg(a.0, lane)).unwrap_or_default();
            return self.stop(lane, FaultKind::Assert(text));
        }
        tracing::warn!("a kernel calls printf; the emulator prints nothing");
        for &(at, bytes) in &site.results {
            for w in 0..bytes.div_ceil(4) {
                let at = ((self.base.local + at) / 4 + w) as usize * LANES;
                for l in lanes(self.mask) {
                    self.w.local[at + l] = 0;
                    self.w.local_written[at + l] = WRITTEN;
                }
            }
        }
        self.w.groups[k].pc = self.pc + 1;
        Ok(())
    }

    /// The C string an argument points to.
    fn string_arg(&self, at: u32, lane: usize) -> String {
        let word = |k: u32| self.w.local[((self.base.local + at) / 4 + k) as usize * LANES + lane];
        let address = u64::from(word(0)) | u64::from(word(1)) << 32;
        let Some(r) = self.mem.find(address) else { return String::new() };
        let off = address & ((1 << WINDOW_BITS) - 1);
        let bytes = r.bytes();
        let tail = bytes.get(off as usize..).unwrap_or_default();
        String::from_utf8_lossy(tail.split(|&b| b == 0).next().unwrap_or_default()).into_owned()
    }

    /// Group `k` is at a warp instruction. Gives whether it was executed for all its lanes at once.
    fn warp_op(&mut self, k: usize, inst: &Inst) -> Result<bool, Stopped> {
        if self.w.taints.any() {
            self.taint(inst)?;
        }
        let on = self.mask;
        let named = self.members(inst);
        let first = named[self.first()];
        if first & !self.env.excused(self.w, inst) == on && lanes(on).all(|l| named[l] == first) {
            (inst.exec)(self, inst)?;
            self.w.groups[k].pc += 1;
            return Ok(true);
        }
        if let Some(lane) = lanes(on).find(|&l| named[l] >> l & 1 == 0) {
            return self.stop(lane, FaultKind::NotInMask { mask: named[lane], lane: lane as u32 });
        }
        self.w.groups[k].state = State::Lanes;
        self.complete_warp_ops()?;
        Ok(false)
    }

    /// The lanes each lane waits for at a warp instruction.
    pub(crate) fn members(&self, inst: &Inst) -> [u32; LANES] {
        if inst.e.file == File::None {
            [self.w.exists; LANES].map(|m| if inst.size == 32 { !0 } else { m })
        } else {
            self.get32(inst.e)
        }
    }

    /// Executes what waiting groups wait for, where all lanes named have come.
    fn complete_warp_ops(&mut self) -> Done {
        let prog = self.prog;
        let saved = self.base;
        loop {
            let waiting: Vec<usize> =
                (0..self.w.groups.len()).filter(|&k| self.w.groups[k].state == State::Lanes).collect();
            // Lanes by (instruction's identity, mask named), and those of the mask that need not come.
            let mut sets: Vec<(u32, u32, u32, u32)> = Vec::new();
            for &k in &waiting {
                let g = &self.w.groups[k];
                let (pc, mask) = (g.pc, g.mask);
                self.base = g.base;
                let inst = &prog.code[pc as usize];
                let (named, excused) = (self.members(inst), self.env.excused(self.w, inst));
                for l in lanes(mask) {
                    let key = inst.target;
                    match sets.iter_mut().find(|s| s.0 == key && s.1 == named[l]) {
                        Some(s) => s.2 |= 1 << l,
                        None => sets.push((key, named[l], 1 << l, excused)),
                    }
                }
            }
            let Some(&(key, named, come, _)) = sets.iter().find(|s| s.1 & !s.3 == s.2) else { break };
            self.complete(key, named, come, &waiting)?;
        }
        self.base = saved;
        Ok(())
    }

    /// Executes one warp instruction for the lanes `come`, which may be at several places.
    fn complete(&mut self, key: u32, named: u32, come: u32, waiting: &[usize]) -> Done {
        let prog = self.prog;
        let parts: Vec<(usize, u32)> = waiting
            .iter()
            .map(|&k| (k, self.w.groups[k].mask & come))
            .filter(|&(k, part)| part != 0 && prog.code[self.w.groups[k].pc as usize].target == key)
            .collect();
        let one_place = parts.windows(2).all(|p| {
            let (a, b) = (&self.w.groups[p[0].0], &self.w.groups[p[1].0]);
            a.pc == b.pc && a.base == b.base
        });
        let (k0, _) = parts[0];
        self.base = self.w.groups[k0].base;
        self.pc = self.w.groups[k0].pc;
        let inst = &prog.code[self.pc as usize];
        self.set_mask(come);
        if one_place {
            (inst.exec)(self, inst)?;
        } else {
            self.exec_scattered(inst, &parts, named)?;
        }
        for (k, part) in parts {
            let pc = self.w.groups[k].pc + 1;
            if self.w.groups[k].mask == part {
                self.w.groups[k].pc = pc;
                self.w.groups[k].state = State::Ready;
            } else {
                self.w.split(k, part, pc);
            }
        }
        Ok(())
    }

    /// Lanes at different instructions of the same kind: their operands are brought to the first one's registers, and
    /// the result is taken back.
    fn exec_scattered(&mut self, inst: &Inst, parts: &[(usize, u32)], _named: u32) -> Done {
        let prog = self.prog;
        let come = self.mask;
        let (home, home_mask) = (self.base, parts[0].1);
        let regs = |i: &Inst| [i.a, i.b, i.c, i.e];
        let mine = regs(inst);
        // Registers of lanes elsewhere at the home place are saved, lent, and restored.
        let saved: Vec<[u64; LANES]> = mine.iter().chain(&[inst.d, inst.d2]).map(|&r| self.get_any(r)).collect();
        for &(k, part) in &parts[1..] {
            let (base, other) = (self.w.groups[k].base, &prog.code[self.w.groups[k].pc as usize]);
            for (to, from) in mine.iter().zip(regs(other)) {
                self.base = base;
                let v = self.get_any(from);
                self.base = home;
                self.set_mask(part);
                self.put_any(*to, &v);
            }
        }
        self.set_mask(come);
        (inst.exec)(self, inst)?;
        let results = [self.get_any(inst.d), self.get_any(inst.d2)];
        self.set_mask(come & !home_mask);
        for (r, v) in mine.iter().chain(&[inst.d, inst.d2]).zip(&saved) {
            self.put_any(*r, v);
        }
        for &(k, part) in &parts[1..] {
            let other = &prog.code[self.w.groups[k].pc as usize];
            self.base = self.w.groups[k].base;
            self.set_mask(part);
            self.put_any(other.d, &results[0]);
            self.put_any(other.d2, &results[1]);
        }
        Ok(())
    }
}
