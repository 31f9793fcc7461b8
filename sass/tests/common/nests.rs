//! Random loop nests, written as PTX.
//!
//! Every loop starts with a volatile store whose offset is its own ([`Nest::loops`]), so that it is recognised in the
//! machine code without any line. Loops count, or run until a loaded value says so; they are tested at the top or at
//! the bottom; they are left, continued and returned from at random; some run once, in a way that ptxas may find out;
//! device functions are called from anywhere. Everything follows from the seed.

use std::fmt::Write;

/// What every text starts with.
pub const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A kernel, `k` with its seed, and the functions that it calls. With [`HEADER`] before them, any number of them are a
/// module.
pub struct Nest {
    pub kernel: String,
    pub text: String,
    pub loops: Vec<Tagged>,
    /// The tags of functions: at their entry, outside any loop.
    pub entries: Vec<(String, u32)>,
}

/// A loop and its tag.
#[derive(Clone, Debug)]
pub struct Tagged {
    pub function: String,
    /// The label of its header.
    pub label: String,
    /// The offset that its first statement stores to.
    pub tag: u32,
    /// The tags of the loops around it, and of the function's entry.
    pub outside: Vec<u32>,
}

/// How loops are written.
#[derive(Clone, Copy)]
pub struct Style {
    /// May some have `.pragma "nounroll"`?
    pub pragmas: bool,
    /// How much there is in a kernel.
    pub size: u32,
}

pub fn nest(seed: u64, style: Style) -> Nest {
    let mut writer = Writer {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        style,
        seed,
        text: String::new(),
        loops: vec![],
        entries: vec![],
        open: vec![],
        function: String::new(),
        functions: vec![],
        names: 0,
        tags: 0,
        left: 0,
    };
    for number in 0..writer.random.below(3) {
        writer.device_function(number);
    }
    writer.kernel();
    Nest { kernel: writer.function, text: writer.text, loops: writer.loops, entries: writer.entries }
}

/// Xorshift.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u32) -> u32 {
        ((self.next() >> 32) % u64::from(bound)) as u32
    }

    fn one_in(&mut self, bound: u32) -> bool {
        self.below(bound) == 0
    }
}

/// A loop being written.
struct Open {
    tag: u32,
    /// Where the next turn starts.
    next: String,
    exit: String,
}

struct Writer {
    random: Random,
    style: Style,
    seed: u64,
    text: String,
    loops: Vec<Tagged>,
    entries: Vec<(String, u32)>,
    open: Vec<Open>,
    function: String,
    functions: Vec<String>,
    names: u32,
    tags: u32,
    /// Statements that may still be written.
    left: u32,
}

const REGISTERS: &str = ".reg .pred %p<9999>;\n.reg .b32 %r<9999>;\n.reg .b32 %acc;\n.reg .b64 %rd<9999>;\n.reg .b64 %out;\n.reg .b64 %in;\n";

impl Writer {
    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "\t{}", line.as_ref()).expect("text");
    }

    fn label(&mut self, label: &str) {
        writeln!(self.text, "{label}:").expect("text");
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn new_label(&mut self) -> String {
        format!("$L_{}", self.name())
    }

    /// A store that is nobody else's.
    fn tag(&mut self) -> u32 {
        self.tags += 1;
        let offset = 0x10000 + self.tags * 4;
        self.line(format!("st.volatile.global.b32 [%out+{offset}], %acc;"));
        offset
    }

    fn device_function(&mut self, number: u32) {
        self.function = format!("f{}_{number}", self.seed);
        self.names = 0;
        let parameters = ".param .b64 a, .param .b64 b, .param .b32 c";
        writeln!(self.text, ".func (.param .b32 result) {}({parameters})\n{{", self.function).expect("text");
        self.text.push_str(REGISTERS);
        self.line("ld.param.b64 %out, [a];");
        self.line("ld.param.b64 %in, [b];");
        self.line("ld.param.b32 %acc, [c];");
        self.body(self.style.size / 2 + 2);
        self.line("st.param.b32 [result], %acc;");
        self.line("ret;\n}");
        self.functions.push(self.function.clone());
    }

    fn kernel(&mut self) {
        self.function = format!("k{}", self.seed);
        self.names = 0;
        let parameters = ".param .u64 .ptr .align 4 k_0, .param .u64 .ptr .align 4 k_1, .param .u32 k_2";
        writeln!(self.text, ".visible .entry {}({parameters})\n{{", self.function).expect("text");
        self.text.push_str(REGISTERS);
        for line in [
            "ld.param.b64 %out, [k_0];",
            "cvta.to.global.u64 %out, %out;",
            "ld.param.b64 %in, [k_1];",
            "cvta.to.global.u64 %in, %in;",
            "mov.u32 %acc, %tid.x;",
        ] {
            self.line(line);
        }
        self.body(self.style.size + 3);
        self.line("ret;\n}");
    }

    fn body(&mut self, size: u32) {
        self.left = size + self.random.below(size);
        let tag = self.tag();
        self.entries.push((self.function.clone(), tag));
        while self.left > 0 {
            self.statements(0);
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(4) {
            self.left = self.left.saturating_sub(1);
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let deep = depth >= 6 || self.left == 0;
        match self.random.below(20) {
            0..=5 if !deep => self.a_loop(depth),
            6..=7 if !deep => self.choice(depth),
            8 if !deep => self.switch(depth),
            9..=10 => self.jump(),
            11 => self.collective(),
            12 => self.call(),
            13..=14 => drop(self.tag()),
            15..=17 => drop(self.load()),
            _ => self.arithmetic(),
        }
    }

    fn arithmetic(&mut self) {
        let (factor, term) = (3 + self.random.below(90), self.random.below(90));
        self.line(format!("mad.lo.s32 %acc, %acc, {factor}, {term};"));
    }

    /// Loads a word that depends on the sum so far.
    fn load(&mut self) -> u32 {
        let n = self.name();
        self.line(format!("and.b32 %r{n}, %acc, 63;"));
        self.line(format!("mul.wide.u32 %rd{n}, %r{n}, 4;"));
        self.line(format!("add.s64 %rd{n}, %in, %rd{n};"));
        let m = self.name();
        self.line(format!("ld.global.b32 %r{m}, [%rd{n}];"));
        self.line(format!("add.s32 %acc, %acc, %r{m};"));
        m
    }

    /// A predicate that nobody can tell: of this thread, or of all.
    fn condition(&mut self) -> u32 {
        let value = match self.random.below(3) {
            0 => format!("%r{}", self.load()),
            1 => "%acc".to_owned(),
            _ => {
                let n = self.name();
                let kernel = self.function.starts_with('k');
                self.line(if kernel { format!("ld.param.b32 %r{n}, [k_2];") } else { format!("mov.b32 %r{n}, %acc;") });
                format!("%r{n}")
            }
        };
        let (n, m) = (self.name(), 1 + self.random.below(15));
        self.line(format!("and.b32 %r{n}, {value}, {m};"));
        self.line(format!("setp.eq.s32 %p{n}, %r{n}, 0;"));
        if self.random.one_in(4) {
            let other = self.name();
            self.line(format!("setp.lt.u32 %p{other}, %acc, 7777;"));
            let both = self.name();
            self.line(format!("and.pred %p{both}, %p{n}, %p{other};"));
            return both;
        }
        n
    }

    fn choice(&mut self, depth: u32) {
        let (other, end) = (self.new_label(), self.new_label());
        let p = self.condition();
        self.line(format!("@%p{p} bra {other};"));
        self.statements(depth + 1);
        if self.random.one_in(2) {
            self.line(format!("bra.uni {end};"));
            self.label(&other);
            self.statements(depth + 1);
        } else {
            self.label(&other);
        }
        self.label(&end);
    }

    fn switch(&mut self, depth: u32) {
        let arms: Vec<String> = (0..4).map(|_| self.new_label()).collect();
        let end = self.new_label();
        let n = self.name();
        self.line(format!("and.b32 %r{n}, %acc, 3;"));
        writeln!(self.text, "$T_{n}: .branchtargets {};", arms.join(", ")).expect("text");
        self.line(format!("brx.idx %r{n}, $T_{n};"));
        for arm in &arms {
            self.label(arm);
            self.tag();
            if self.random.one_in(4) {
                self.statements(depth + 1);
            }
            self.line(format!("bra.uni {end};"));
        }
        self.label(&end);
    }

    /// Leaves or continues one of the loops around, or returns.
    fn jump(&mut self) {
        let p = self.condition();
        if self.open.is_empty() || self.random.one_in(8) {
            let end = self.new_label();
            self.line(format!("@%p{p} bra {end};"));
            self.tag();
            if !self.function.starts_with('k') {
                self.line("st.param.b32 [result], %acc;");
            }
            self.line("ret;");
            self.label(&end);
            return;
        }
        let level = self.open.len() - 1 - self.random.below(self.open.len() as u32) as usize;
        let open = &self.open[level];
        let to = if self.random.one_in(2) { open.exit.clone() } else { open.next.clone() };
        self.branch(p, &to);
    }

    /// A branch, as compilers write it: alone, or with a jump past it.
    fn branch(&mut self, p: u32, to: &str) {
        let on = self.new_label();
        match self.random.below(3) {
            0 => {
                self.line(format!("@%p{p} bra {to};"));
                self.line(format!("bra.uni {on};"));
            }
            1 => {
                self.line(format!("@!%p{p} bra {on};"));
                self.line(format!("bra.uni {to};"));
            }
            _ => self.line(format!("@%p{p} bra {to};")),
        }
        self.label(&on);
    }

    fn collective(&mut self) {
        match self.random.below(3) {
            0 => self.line("shfl.sync.bfly.b32 %acc, %acc, 1, 31, -1;"),
            1 => self.line("bar.sync 0;"),
            _ => {
                let n = self.name();
                self.line(format!("setp.lt.u32 %p{n}, %acc, 99;"));
                self.line(format!("vote.sync.ballot.b32 %acc, %p{n}, -1;"));
            }
        }
    }

    fn call(&mut self) {
        if self.functions.is_empty() {
            return self.arithmetic();
        }
        let at = self.random.below(self.functions.len() as u32) as usize;
        let callee = self.functions[at].clone();
        for line in [
            "{\n\t.param .b64 pa; .param .b64 pb; .param .b32 pc; .param .b32 pr;",
            "st.param.b64 [pa], %out;",
            "st.param.b64 [pb], %in;",
            "st.param.b32 [pc], %acc;",
            &format!("call.uni (pr), {callee}, (pa, pb, pc);"),
            "ld.param.b32 %acc, [pr];\n\t}",
        ] {
            self.line(line);
        }
    }

    fn a_loop(&mut self, depth: u32) {
        let (header, next, exit) = (self.new_label(), self.new_label(), self.new_label());
        let counter = self.name();
        let once = self.random.one_in(6).then(|| self.name());
        let bound = self.bound();
        self.line(format!("mov.b32 %r{counter}, 0;"));
        once.iter().for_each(|n| self.line(format!("setp.ne.s32 %p{n}, 0, 0;")));
        self.label(&header);
        if self.style.pragmas && self.random.one_in(2) {
            self.line(".pragma \"nounroll\";");
        }
        let entry = self.entries.last().map(|(_, tag)| *tag);
        let outside = self.open.iter().map(|open| open.tag).chain(entry).collect();
        let tag = self.tag();
        self.loops.push(Tagged { function: self.function.clone(), label: header.clone(), tag, outside });
        if let Some(n) = once {
            self.line(format!("@%p{n} bra {exit};"));
            self.line(format!("setp.eq.s32 %p{n}, 0, 0;"));
        }
        let top = self.random.one_in(2);
        if top {
            self.test(counter, &bound, "ge", &exit);
        }
        self.open.push(Open { tag, next: next.clone(), exit: exit.clone() });
        self.statements(depth + 1);
        self.open.pop();
        self.label(&next);
        self.line(format!("add.s32 %r{counter}, %r{counter}, 1;"));
        if top {
            self.line(format!("bra.uni {header};"));
        } else if self.random.one_in(4) {
            let p = self.condition();
            self.branch(p, &header);
        } else {
            self.test(counter, &bound, "lt", &header);
        }
        self.label(&exit);
    }

    /// How often a loop runs: a number, or something that only the machine knows.
    fn bound(&mut self) -> String {
        if self.random.one_in(3) {
            return (1 + self.random.below(9)).to_string();
        }
        let n = self.name();
        let loaded = self.load();
        self.line(format!("and.b32 %r{n}, %r{loaded}, 255;"));
        format!("%r{n}")
    }

    fn test(&mut self, counter: u32, bound: &str, comparison: &str, to: &str) {
        let n = self.name();
        self.line(format!("setp.{comparison}.s32 %p{n}, %r{counter}, {bound};"));
        self.branch(n, to);
    }
}
