//! The promise: the cases notice the mistakes that chunked kernels were shipped with.
//!
//! The chunked rule is written here once more, in f64 and in the form with `p`, which solves `(I + L) p = K`: it is the form
//! that most kernels have, and the only one in which the first of these mistakes can be made. Without a mistake it passes
//! every case; with one, some case fails.

use gated_delta::cases::Case;
use gated_delta::problem::{Format, Outputs, Problem};

/// A mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// The state's update has `p` where it should have the key.
    PForK,
    /// What a token adds to the state is weighed twice by the gates after it.
    GatedTwice,
    /// The chunk's last gate product is read beyond the sequence's end, where there are zeros.
    LastFromPadding,
    /// The state before is read with rows for columns.
    StateTransposed,
    /// Heads find their key head by the remainder.
    ModuloForDivision,
    /// All sequences are computed from the first one's tokens.
    BatchIgnored,
    /// What is left over of a sequence after whole chunks is not computed.
    TailDropped,
}
use Mistake::{BatchIgnored, GatedTwice, LastFromPadding, ModuloForDivision, PForK, StateTransposed, TailDropped};

type Rows = Vec<Vec<f64>>;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// One head's part of a chunk.
struct Chunk {
    q: Rows,
    k: Rows,
    v: Rows,
    g: Vec<f64>,
    beta: Vec<f64>,
}

/// `Gamma`: the product of the gates after `j` up to `t`.
fn gamma(g: &[f64], t: usize, j: usize) -> f64 {
    g[j + 1..=t].iter().product()
}

/// Outputs of a chunk, and its effect on the state (`[dv][dk]`).
fn chunk(chunk: &Chunk, state: &mut Rows, mistake: Option<Mistake>) -> Rows {
    let Chunk { q, k, v, g, beta } = chunk;
    let (tokens, dv) = (k.len(), state.len());
    let (mut p, mut u): (Rows, Rows) = (Vec::new(), Vec::new());
    for t in 0..tokens {
        let (mut row, mut right) = (k[t].clone(), v[t].iter().map(|v| beta[t] * v).collect::<Vec<f64>>());
        for j in 0..t {
            let by_keys = dot(&k[t], &k[j]);
            row.iter_mut().zip(&p[j]).for_each(|(x, p)| *x -= beta[j] * by_keys * p);
            right.iter_mut().zip(&u[j]).for_each(|(x, u)| *x -= beta[t] * gamma(g, t, j) * by_keys * u);
        }
        p.push(row);
        u.push(right);
    }
    let through = |t: usize| g[..=t].iter().product::<f64>();
    let held: Rows = (0..tokens).map(|i| state.iter().map(|row| dot(row, &p[i])).collect()).collect();
    let y = (0..tokens)
        .map(|t| {
            let value = |row: usize| {
                let passed: f64 = (0..=t).map(|i| beta[i] * dot(&q[t], &k[i]) * held[i][row]).sum();
                let own: f64 = (0..=t).map(|j| gamma(g, t, j) * dot(&q[t], &k[j]) * u[j][row]).sum();
                through(t) * (dot(&state[row], &q[t]) - passed) + own
            };
            (0..dv).map(value).collect()
        })
        .collect();
    let last = tokens - 1;
    for (row, values) in state.iter_mut().enumerate() {
        for (column, value) in values.iter_mut().enumerate() {
            let by = |i: usize| if mistake == Some(PForK) { p[i][column] } else { k[i][column] };
            let passed: f64 = (0..tokens).map(|i| beta[i] * held[i][row] * by(i)).sum();
            let weight = |j: usize| gamma(g, last, j).powi(if mistake == Some(GatedTwice) { 2 } else { 1 });
            let added: f64 = (0..tokens).map(|j| weight(j) * u[j][row] * k[j][column]).sum();
            *value = through(last) * (*value - passed) + added;
        }
    }
    y
}

/// The rule in chunks of 16.
fn rule(problem: &Problem, mistake: Option<Mistake>) -> Outputs {
    const TOKENS: usize = 16;
    let sizes = &problem.sizes;
    let [heads, key_heads, dk, dv] = [sizes.heads, sizes.key_heads, sizes.dk, sizes.dv].map(|size| size as usize);
    let mut outputs = Outputs { y: vec![0.0; sizes.values()], state: vec![0.0; sizes.states()] };
    let starts = sizes.starts();
    for (slot, after) in outputs.state.chunks_mut(dk * dv).enumerate() {
        let (sequence, head) = (slot / heads, slot % heads);
        let key_head = if mistake == Some(ModuloForDivision) { head % key_heads } else { head / (heads / key_heads) };
        let before = |row: usize, column: usize| match &problem.state {
            None => 0.0,
            Some(state) if mistake == Some(StateTransposed) => f64::from(state[slot * dk * dv + column * dv + row]),
            Some(state) => f64::from(state[slot * dk * dv + row * dk + column]),
        };
        let mut state: Rows = (0..dv).map(|row| (0..dk).map(|column| before(row, column)).collect()).collect();
        let (first, end) = (starts[sequence] as usize, starts[sequence + 1] as usize);
        for at in (first..end).step_by(TOKENS) {
            let tokens = TOKENS.min(end - at);
            if mistake == Some(TailDropped) && tokens < TOKENS {
                continue;
            }
            let from = if mistake == Some(BatchIgnored) { at - first } else { at };
            let rows = |values: &[f32], a_token: usize, offset: usize, width: usize| -> Rows {
                let row = |t: usize| values[(from + t) * a_token + offset..][..width].iter().map(|x| f64::from(*x));
                (0..tokens).map(|t| row(t).collect()).collect()
            };
            let gates = |values: &[f32]| rows(values, heads, head, 1).concat();
            let mut part = Chunk {
                q: rows(&problem.q, key_heads * dk, key_head * dk, dk),
                k: rows(&problem.k, key_heads * dk, key_head * dk, dk),
                v: rows(&problem.v, heads * dv, head * dv, dv),
                g: gates(&problem.g),
                beta: gates(&problem.beta),
            };
            if mistake == Some(LastFromPadding) && tokens < TOKENS {
                let (q, k, v) = (vec![0.0; dk], vec![0.0; dk], vec![0.0; dv]);
                part.q.push(q);
                part.k.push(k);
                part.v.push(v);
                part.g.push(0.0);
                part.beta.push(0.0);
            }
            for (t, y) in chunk(&part, &mut state, mistake).into_iter().take(tokens).enumerate() {
                let place = ((at + t) * heads + head) * dv;
                outputs.y[place..][..dv].iter_mut().zip(y).for_each(|(place, y)| *place = y as f32);
            }
        }
        after.iter_mut().zip(state.concat()).for_each(|(place, x)| *place = x as f32);
    }
    outputs
}

/// The names of the cases that notice a mistake.
fn noticed_by(mistake: Option<Mistake>) -> Vec<&'static str> {
    // The long and the large ones show nothing that others do not.
    let cases = Case::all(16).into_iter().filter(|case| case.problem.sizes.tokens() <= 140 && case.calls.len() < 3);
    let cases = cases.filter(|case| case.problem.sizes.states() <= 4096);
    let fails = |case: &Case| {
        let outputs = case.run(|problem| Ok::<_, std::convert::Infallible>(rule(problem, mistake)));
        outputs.is_ok_and(|outputs| case.check(Format::F32, &outputs).is_err())
    };
    cases.filter(fails).map(|case| case.name).collect()
}

#[test]
fn without_a_mistake_every_case_passes() {
    assert_eq!(noticed_by(None), [""; 0]);
}

#[test]
fn every_mistake_is_noticed() {
    let mistakes = [PForK, GatedTwice, LastFromPadding, StateTransposed, ModuloForDivision, BatchIgnored, TailDropped];
    for mistake in mistakes {
        let noticed = noticed_by(Some(mistake));
        println!("{mistake:?}: {noticed:?}");
        assert!(!noticed.is_empty(), "{mistake:?} is not noticed");
    }
}

#[test]
fn mistakes_with_heads_and_sequences_are_noticed_where_they_matter() {
    assert!(noticed_by(Some(ModuloForDivision)).contains(&"2 key heads for 6 heads"));
    assert!(noticed_by(Some(BatchIgnored)).contains(&"a batch of 2"));
    assert!(noticed_by(Some(TailDropped)).contains(&"a chunk and one token"));
    assert!(noticed_by(Some(LastFromPadding)).contains(&"a chunk and one token"));
    assert!(noticed_by(Some(StateTransposed)).contains(&"keys longer than values"));
}
