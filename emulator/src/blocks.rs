//! Cuts a function's instructions into blocks and places them in the order of [`crate::order`].

use crate::program::{Flow, Inst, NONE, Program};
use crate::table::{Class, Taint};

/// Appends `code` to the program, blocks in order, targets resolved. `labels` maps labels to places in `code`, `lists`
/// are labels of `brx.idx`.
pub(crate) fn place(prog: &mut Program, code: Vec<Inst>, labels: &[Option<u32>], lists: &[u32]) {
    let n = code.len();
    let at = |label: u32| labels[label as usize].unwrap_or(n as u32 - 1);
    let mut leader = vec![false; n];
    leader[0] = true;
    for &l in labels.iter().flatten() {
        leader[l as usize] = true;
    }
    for (k, i) in code.iter().enumerate() {
        if ends_block(i) && k + 1 < n {
            leader[k + 1] = true;
        }
    }
    let mut block_of = vec![0u32; n];
    let mut starts = Vec::new();
    for k in 0..n {
        if leader[k] {
            starts.push(k);
        }
        block_of[k] = starts.len() as u32 - 1;
    }
    let end = |b: usize| starts.get(b + 1).copied().unwrap_or(n);
    let successors: Vec<Vec<u32>> = (0..starts.len())
        .map(|b| {
            let last = &code[end(b) - 1];
            let mut s = Vec::new();
            match last.flow {
                Flow::Branch => s.push(block_of[at(last.target) as usize]),
                Flow::Indexed => {
                    let list = &lists[last.list.0 as usize..][..last.list.1 as usize];
                    s.extend(list.iter().map(|&l| block_of[at(l) as usize]));
                }
                _ => {}
            }
            if falls_through(last) && end(b) < n {
                s.push(block_of[end(b)]);
            }
            s.sort_unstable();
            s.dedup();
            s
        })
        .collect();
    let order = crate::order::order(&successors);
    // Where each block will start, jumps that keep the fall-through included.
    let base = prog.code.len() as u32;
    let mut start_at = vec![base; starts.len()];
    let mut pos = base;
    let needs_jump = |k: usize| {
        let b = order[k] as usize;
        let next = end(b);
        falls_through(&code[next - 1]) && next < n && order.get(k + 1).copied() != Some(block_of[next])
    };
    for (k, &b) in order.iter().enumerate() {
        start_at[b as usize] = pos;
        pos += (end(b as usize) - starts[b as usize]) as u32 + u32::from(needs_jump(k));
    }
    let target = |label: u32| start_at[block_of[at(label) as usize] as usize];
    for (k, &b) in order.iter().enumerate() {
        for inst in &code[starts[b as usize]..end(b as usize)] {
            let mut inst = inst.clone();
            match inst.flow {
                Flow::Branch => inst.target = target(inst.target),
                Flow::Indexed => {
                    let list = &lists[inst.list.0 as usize..][..inst.list.1 as usize];
                    let places: Vec<u32> = list.iter().map(|&l| target(l)).collect();
                    inst.list.0 = prog.targets.len() as u32;
                    prog.targets.extend(places);
                }
                _ => {}
            }
            prog.code.push(inst);
        }
        if needs_jump(k) {
            let next = end(b as usize);
            let mut jump = code[next - 1].clone();
            jump.flow = Flow::Branch;
            jump.guard = NONE;
            jump.target = start_at[block_of[next] as usize];
            jump.class = Class::Branch;
            jump.taint = Taint::Nothing;
            // It is not in the text, so nothing counts it.
            jump.name = NONE;
            prog.code.push(jump);
        }
    }
}

fn ends_block(i: &Inst) -> bool {
    matches!(i.flow, Flow::Branch | Flow::Indexed | Flow::Return | Flow::Exit)
}

fn falls_through(i: &Inst) -> bool {
    !ends_block(i) || i.guard != NONE
}
