//! The recurrence as its definition has it, in f64 or f32: what every kernel is held to.
//!
//! Written apart from the kernels: one head after another, one token after another, plain loops from left to right.

use crate::problem::{Outputs, Problem};
use std::ops::{Add, AddAssign, Mul, Sub};

/// The numbers that the oracle computes with.
pub trait Real: Copy + From<f32> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + AddAssign {}

impl Real for f32 {}
impl Real for f64 {}

/// Outputs and last states.
///
/// # Panics
/// Where an input has not the length that the sizes ask for.
pub fn gated_delta_rule<R: Real>(problem: &Problem) -> Outputs<R, R> {
    let sizes = &problem.sizes;
    let (heads, dk, dv) = (sizes.heads as usize, sizes.dk as usize, sizes.dv as usize);
    let key_heads = sizes.key_heads as usize;
    let mut state: Vec<R> = match &problem.state {
        Some(state) => state.iter().map(|x| R::from(*x)).collect(),
        None => vec![R::from(0.0); sizes.states()],
    };
    let mut y = vec![R::from(0.0); sizes.values()];
    let mut token = 0;
    for (sequence, tokens) in sizes.sequences.iter().enumerate() {
        for _ in 0..*tokens {
            for head in 0..heads {
                let key_head = head / (heads / key_heads);
                let at = (token * key_heads + key_head) * dk;
                let (q, k) = (&problem.q[at..][..dk], &problem.k[at..][..dk]);
                let gate = token * heads + head;
                let v = &problem.v[gate * dv..][..dv];
                let rows = &mut state[(sequence * heads + head) * dv * dk..][..dv * dk];
                let (g, beta) = (R::from(problem.g[gate]), R::from(problem.beta[gate]));
                for (row, out) in y[gate * dv..][..dv].iter_mut().enumerate() {
                    *out = step(&mut rows[row * dk..][..dk], q, k, R::from(v[row]), g, beta);
                }
            }
            token += 1;
        }
    }
    Outputs { y, state }
}

/// One token for one row of a state: changes the row, and gives its output.
fn step<R: Real>(row: &mut [R], q: &[f32], k: &[f32], v: R, g: R, beta: R) -> R {
    for s in row.iter_mut() {
        *s = g * *s;
    }
    let held = dot(row, k);
    let delta = beta * (v - held);
    for (s, k) in row.iter_mut().zip(k) {
        *s += delta * R::from(*k);
    }
    dot(row, q)
}

fn dot<R: Real>(row: &[R], x: &[f32]) -> R {
    let mut sum = R::from(0.0);
    for (s, x) in row.iter().zip(x) {
        sum += *s * R::from(*x);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::gated_delta_rule;
    use crate::problem::{Problem, Sizes};

    /// Two tokens on paper: dk = 2, dv = 1.
    #[test]
    fn two_tokens_by_hand() {
        let problem = Problem {
            sizes: Sizes { sequences: vec![2], heads: 1, key_heads: 1, dk: 2, dv: 1 },
            q: vec![1.0, 0.0, 1.0, 2.0],
            k: vec![1.0, 0.0, 0.5, 1.0],
            v: vec![3.0, 1.0],
            g: vec![0.5, 0.25],
            beta: vec![1.0, 0.5],
            state: Some(vec![4.0, 8.0]),
        };
        // Token 0: D = [2, 4], held 2, delta 1, S = [3, 4], y = 3.
        // Token 1: D = [.75, 1], held 1.375, delta -.1875, S = [.65625, .8125], y = .65625 + 1.625.
        let outputs = gated_delta_rule::<f64>(&problem);
        assert_eq!(outputs.y, [3.0, 2.28125]);
        assert_eq!(outputs.state, [0.65625, 0.8125]);
    }
}
