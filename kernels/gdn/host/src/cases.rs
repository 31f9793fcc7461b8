//! The problems that every kernel is held to, and how far a result may be from the oracle's.
//!
//! Each case is one that some public kernel got wrong: gates whose products underflow, a state transposed, heads shared
//! out by remainder, a tail read too far. A [`Case`] may be cut into several calls that hand the state on.

use crate::oracle;
use crate::problem::{Format, Outputs, Problem, Sizes};

/// A problem, and how it is cut into calls.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// The whole problem.
    pub problem: Problem,
    /// Tokens of each call; one call where it is empty. Only for a single sequence.
    pub calls: Vec<u32>,
}

/// How gates are made.
#[derive(Debug, Clone, Copy)]
enum Gates {
    /// All the same.
    Constant(f32),
    /// Between two numbers.
    Between(f32, f32),
    /// `exp` of a number between these.
    Exponential(f32, f32),
    /// One gate of every head, at this token; 0.95 elsewhere.
    One(usize, f32),
}
use Gates::{Between, Constant, Exponential, One};

/// Inputs of the sizes: unit keys and queries, values around 1, gates and betas as told, a state that is not symmetric.
fn problem(sizes: Sizes, gates: Gates, beta: Gates, seed: u64) -> Problem {
    let mut random = Random(seed);
    let dk = sizes.dk as usize;
    let unit = |random: &mut Random, rows: usize| -> Vec<f32> { (0..rows).flat_map(|_| random.unit(dk)).collect() };
    let rows = sizes.tokens() * sizes.key_heads as usize;
    let (q, k) = (unit(&mut random, rows), unit(&mut random, rows));
    let v = (0..sizes.values()).map(|_| random.between(-1.5, 1.5)).collect();
    let g = random.gates(gates, &sizes);
    let beta = random.gates(beta, &sizes);
    let state = Some((0..sizes.states()).map(|_| random.between(-1.0, 1.0)).collect());
    Problem { sizes, q, k, v, g, beta, state }
}

/// A problem of any sizes, with gates and betas as models have them.
pub fn usual(sizes: Sizes, seed: u64) -> Problem {
    problem(sizes, Between(0.9, 1.0), BETA, seed)
}

/// The usual beta.
const BETA: Gates = Between(0.0, 1.0);

fn case(name: &'static str, problem: Problem) -> Case {
    Case { name, problem, calls: Vec::new() }
}

impl Case {
    /// All cases, for chunks of at most `chunk` tokens. Where sequences are long, heads are small.
    pub fn all(chunk: u32) -> Vec<Case> {
        [gates(), lengths(chunk), states(), shapes(), packed()].concat()
    }

    /// The largest keys, for which chunks of 64 have not enough shared memory.
    pub fn large() -> Vec<Case> {
        let of = |dk, dv, seed| problem(Sizes::batch(1, 40, 1, 1, dk, dv), Between(0.9, 1.0), BETA, seed);
        vec![case("dk = dv = 256", of(256, 256, 61)), case("dk = 248, dv = 8", of(248, 8, 62))]
    }

    /// The long ones that are stated in bfloat16: a beta that its rounding meets badly, and gates that it has no number for.
    pub fn long() -> Vec<Case> {
        let sizes = || Sizes::batch(1, 4096, 1, 1, 16, 8);
        vec![
            case("beta = 0.62245935 for 4096 tokens", problem(sizes(), Between(0.9, 1.0), Constant(0.622_459_35), 71)),
            case("g = 0.999 for 4096 tokens", problem(sizes(), Constant(0.999), BETA, 72)),
        ]
    }

    /// Those for keys of 128 elements and values of 64 or 128, as tensor cores have them.
    pub fn wide() -> Vec<Case> {
        let of = |sizes, gates, beta, seed| problem(sizes, gates, beta, seed);
        let one = |tokens| Sizes::batch(1, tokens, 1, 1, 128, 64);
        let packed = Sizes { sequences: vec![37, 0, 64, 5], heads: 2, key_heads: 1, dk: 128, dv: 64 };
        let mut alike = of(one(64), Constant(1.0), Constant(1.0), 86);
        let key = alike.k[..128].to_vec();
        alike.k = key.repeat(64);
        vec![
            case("128 by 128, 130 tokens", of(Sizes::batch(1, 130, 2, 1, 128, 128), Between(0.9, 1.0), BETA, 81)),
            case("one g = 0", of(one(70), One(20, 0.0), BETA, 82)),
            case("g = exp of -20 to 0", of(one(130), Exponential(-20.0, 0.0), BETA, 83)),
            case("negative g", of(one(70), Between(-1.0, 1.0), BETA, 84)),
            case("g = 1 for 256 tokens", of(one(256), Constant(1.0), BETA, 85)),
            case("64 equal keys, beta = 1", alike),
            case("1 token", of(one(1), Between(0.9, 1.0), BETA, 87)),
            case("65 tokens", of(one(65), Between(0.9, 1.0), BETA, 88)),
            case("81 tokens, then NaN", then_nan(81, 128, 64)),
            case("beta = 0: the state alone", of(one(70), Between(0.8, 1.0), Constant(0.0), 90)),
            Case { calls: vec![50, 80], ..case("130 tokens as 50 and 80", of(one(130), Between(0.8, 1.0), BETA, 91)) },
            case("packed sequences, one of no tokens", of(packed, Between(0.9, 1.0), BETA, 92)),
            case("2 key heads for 6 heads", of(Sizes::batch(2, 20, 6, 2, 128, 64), Between(0.9, 1.0), BETA, 93)),
        ]
    }

    /// The same problem with inputs that the element type has.
    #[must_use]
    pub fn rounded(mut self, format: Format) -> Case {
        let problem = &mut self.problem;
        for values in [&mut problem.q, &mut problem.k, &mut problem.v] {
            values.iter_mut().for_each(|x| *x = format.round(*x));
        }
        self
    }

    /// Runs the case's calls by `run`, handing the state on, and puts their outputs together.
    pub fn run<E>(&self, mut run: impl FnMut(&Problem) -> Result<Outputs, E>) -> Result<Outputs, E> {
        if self.calls.is_empty() {
            return run(&self.problem);
        }
        let (mut y, mut state, mut first) = (Vec::new(), self.problem.state.clone(), 0);
        for tokens in &self.calls {
            let outputs = run(&self.problem.part(first, *tokens, state))?;
            y.extend(outputs.y);
            state = Some(outputs.state);
            first += *tokens as usize;
        }
        Ok(Outputs { y, state: state.unwrap_or_default() })
    }

    /// Says what is wrong with the outputs of a kernel of this element type.
    ///
    /// Single precision: no output or state is further than 1e-5 from the oracle's in f64, of the largest there is (or
    /// of 1). The others: the root mean square of the error is at most 1e-3 (f16) or 5e-3 (bf16) of the result's.
    pub fn check(&self, format: Format, outputs: &Outputs) -> Result<(), String> {
        let wanted = oracle::gated_delta_rule::<f64>(&self.problem);
        compare("y", format, &outputs.y, &wanted.y)
            .and_then(|()| compare("the state", format, &outputs.state, &wanted.state))
            .map_err(|wrong| format!("{}, {}: {wrong}", self.name, format.name()))
    }
}

impl Problem {
    /// Some tokens of the only sequence, from a state.
    fn part(&self, first: usize, tokens: u32, state: Option<Vec<f32>>) -> Problem {
        let sizes = Sizes { sequences: vec![tokens], ..self.sizes.clone() };
        let cut = |values: &[f32], a_token: usize| values[first * a_token..][..tokens as usize * a_token].to_vec();
        let (heads, keys) = (sizes.heads as usize, (sizes.key_heads * sizes.dk) as usize);
        Problem {
            q: cut(&self.q, keys),
            k: cut(&self.k, keys),
            v: cut(&self.v, heads * sizes.dv as usize),
            g: cut(&self.g, heads),
            beta: cut(&self.beta, heads),
            state,
            sizes,
        }
    }
}

/// Gates and betas that products, quotients or logarithms of them would lose.
fn gates() -> Vec<Case> {
    let sizes = |tokens| Sizes::batch(1, tokens, 2, 1, 32, 16);
    let mut vanishing = problem(sizes(70), One(20, 1e-38), BETA, 3);
    vanishing.g.iter_mut().for_each(|g| *g = if *g < 0.5 { *g } else { 1.0 });
    let mut twice = problem(sizes(70), One(20, 1e-30), BETA, 8);
    twice.g[2 * 40..][..2].fill(1e-30);
    let mut alike = problem(sizes(64), Constant(1.0), Constant(1.0), 6);
    let key = alike.k[..32].to_vec();
    alike.k = key.repeat(64);
    vec![
        case("g = 1e-12 for 64 tokens", problem(sizes(64), Constant(1e-12), BETA, 1)),
        case("one g = 0", problem(sizes(70), One(20, 0.0), BETA, 2)),
        case("a gate of 1e-38, then 1", vanishing),
        case("two gates of 1e-30", twice),
        case("g = exp of -20 to 0", problem(sizes(130), Exponential(-20.0, 0.0), BETA, 4)),
        case("negative g", problem(sizes(70), Between(-1.0, 1.0), BETA, 5)),
        case("64 equal keys, beta = 1", alike),
        case("beta up to 2", problem(sizes(130), Between(0.9, 1.0), Between(0.0, 2.0), 7)),
        case("g = 1 for 1024 tokens", problem(Sizes::batch(1, 1024, 1, 1, 16, 8), Constant(1.0), BETA, 9)),
    ]
}

/// Numbers of tokens around a chunk's.
fn lengths(chunk: u32) -> Vec<Case> {
    let of = |tokens, seed| problem(Sizes::batch(1, tokens, 2, 2, 16, 16), Between(0.9, 1.0), BETA, seed);
    let mut cases: Vec<Case> =
        [(1, "1 token"), (63, "63 tokens"), (64, "64 tokens"), (65, "65 tokens"), (130, "130 tokens")]
            .into_iter()
            .map(|(tokens, name)| case(name, of(tokens, 10 + u64::from(tokens))))
            .collect();
    cases.push(case("a chunk and one token", of(chunk + 1, 11)));
    cases.push(case("a chunk and 17 tokens, then NaN", then_nan(chunk + 17, 16, 16)));
    cases
}

/// A sequence, and one of 3 tokens after it that is all NaN: nobody asks what comes of that.
fn then_nan(tokens: u32, dk: u32, dv: u32) -> Problem {
    let sizes = Sizes { sequences: vec![tokens, 3], heads: 1, key_heads: 1, dk, dv };
    let mut problem = problem(sizes, Between(0.9, 1.0), BETA, 12);
    let tokens = tokens as usize;
    for (values, a_token) in
        [(&mut problem.q, dk), (&mut problem.k, dk), (&mut problem.v, dv), (&mut problem.g, 1), (&mut problem.beta, 1)]
    {
        values[tokens * a_token as usize..].fill(f32::NAN);
    }
    problem
}

/// States that go in, through and out.
fn states() -> Vec<Case> {
    let of = |tokens, seed| problem(Sizes::batch(1, tokens, 2, 1, 32, 16), Between(0.8, 1.0), BETA, seed);
    let idle = problem(Sizes::batch(1, 70, 2, 1, 32, 16), Between(0.8, 1.0), Constant(0.0), 31);
    let none = Problem { state: None, ..of(70, 32) };
    vec![
        case("beta = 0: the state alone", idle),
        case("no state before", none),
        Case { calls: vec![50, 80], ..case("130 tokens as 50 and 80", of(130, 33)) },
        Case { calls: vec![5; 64], ..case("64 calls of 5 tokens", of(320, 34)) },
        case(
            "strong gates, weak decay",
            problem(Sizes::batch(1, 130, 1, 1, 32, 16), Between(0.95, 1.0), Constant(0.5), 35),
        ),
    ]
}

/// Heads and sizes.
fn shapes() -> Vec<Case> {
    let of = |sizes, seed| problem(sizes, Between(0.9, 1.0), BETA, seed);
    vec![
        case("keys longer than values", of(Sizes::batch(1, 70, 1, 1, 64, 24), 41)),
        case("values longer than keys", of(Sizes::batch(1, 70, 1, 1, 24, 72), 42)),
        case("2 key heads for 6 heads", of(Sizes::batch(1, 20, 6, 2, 16, 8), 43)),
        case("16 key heads for 48 heads", of(Sizes::batch(1, 18, 48, 16, 8, 8), 44)),
        case("dk = 48", of(Sizes::batch(1, 70, 1, 1, 48, 32), 45)),
        case("dk = dv = 8", of(Sizes::batch(1, 70, 1, 1, 8, 8), 46)),
        case("dk = 136, dv = 72", of(Sizes::batch(1, 40, 1, 1, 136, 72), 47)),
        case("a batch of 2", of(Sizes::batch(2, 70, 2, 1, 32, 16), 48)),
        case("dk = dv = 128", of(Sizes::batch(1, 130, 1, 1, 128, 128), 49)),
    ]
}

/// Sequences of several lengths in one array.
fn packed() -> Vec<Case> {
    let of = |sequences, seed| {
        problem(Sizes { sequences, heads: 2, key_heads: 1, dk: 16, dv: 16 }, Between(0.9, 1.0), BETA, seed)
    };
    let mut hostile = of(vec![37, 64], 51);
    // The second sequence begins with numbers that would show in the first.
    let (keys, values) = (37 * 16, 37 * 2 * 16);
    hostile.k[keys..][..16].iter_mut().for_each(|x| *x *= 50.0);
    hostile.v[values..][..32].iter_mut().for_each(|x| *x *= 1e4);
    // So large a key would let the error grow without a gate that ends it.
    hostile.beta[37 * 2..][..2].fill(0.0);
    vec![
        case("37 and 64 tokens, hostile neighbours", hostile),
        case("a sequence of no tokens", of(vec![20, 0, 7], 52)),
        case("no tokens at all", of(vec![0], 53)),
    ]
}

/// Compares with the oracle's result. Where that is NaN, anything is right.
fn compare(what: &str, format: Format, found: &[f32], wanted: &[f64]) -> Result<(), String> {
    if found.len() != wanted.len() {
        return Err(format!("{what} has {} elements, and should have {}", found.len(), wanted.len()));
    }
    let known: Vec<(f64, f64)> = found
        .iter()
        .map(|x| f64::from(*x))
        .zip(wanted.iter().copied())
        .filter(|(_, wanted)| !wanted.is_nan())
        .collect();
    if let Some((found, wanted)) = known.iter().find(|(found, _)| !found.is_finite()) {
        return Err(format!("an element of {what} is {found}, and should be {wanted:e}"));
    }
    let root_mean_square = |of: &dyn Fn(&(f64, f64)) -> f64| {
        (known.iter().map(|pair| of(pair).powi(2)).sum::<f64>() / known.len().max(1) as f64).sqrt()
    };
    let largest = |of: &dyn Fn(&(f64, f64)) -> f64| known.iter().map(|pair| of(pair).abs()).fold(0.0, f64::max);
    let error_of = |(found, wanted): &(f64, f64)| found - wanted;
    let (error, size, limit) = match format {
        Format::F32 => (largest(&error_of), largest(&|pair| pair.1).max(1.0), 1e-5),
        Format::F16 => (root_mean_square(&error_of), root_mean_square(&|pair| pair.1), 1e-3),
        Format::Bf16 => (root_mean_square(&error_of), root_mean_square(&|pair| pair.1), 5e-3),
    };
    let error = if size > 0.0 { error / size } else { error };
    if error > limit { Err(format!("{what} is wrong by {error:.2e}, more than {limit:e}")) } else { Ok(()) }
}

/// Reproducible numbers.
struct Random(u64);

impl Random {
    /// From 0 up to 1, 1 left out.
    fn fraction(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.fraction()
    }

    /// A vector of length 1.
    fn unit(&mut self, len: usize) -> Vec<f32> {
        let values: Vec<f32> = (0..len).map(|_| self.between(-1.0, 1.0)).collect();
        let length = values.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
        values.iter().map(|x| x / length).collect()
    }

    fn gates(&mut self, gates: Gates, sizes: &Sizes) -> Vec<f32> {
        let heads = sizes.heads as usize;
        let one = |at: usize, token: usize, gate: f32| if at / heads == token { gate } else { 0.95 };
        (0..sizes.gates())
            .map(|at| match gates {
                Constant(gate) => gate,
                Between(low, high) => self.between(low, high),
                Exponential(low, high) => self.between(low, high).exp(),
                One(token, gate) => one(at, token, gate),
            })
            .collect()
    }
}
