//! The pass alone, on generated functions of growing size: time per block should stay level.
//!
//! `cargo bench -p codegen-pass` prints the time for each size; the largest has 100,000 blocks and 10,000 loops.

use codegen_pass::{Block, ControlFlow, Dominators, Flow, LoopForest, Marker, MergeLatches, Role, SiteId, resolve};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

struct Generated {
    successors: Vec<Vec<Block>>,
    markers: Vec<Marker>,
}

impl ControlFlow for Generated {
    fn block_count(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> Block {
        Block(0)
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.successors[block.index()].iter().copied()
    }
}

impl MergeLatches for Generated {
    fn ends_in_plain_jump(&self, latch: Block) -> bool {
        self.successors[latch.index()].len() == 1
    }

    fn can_redirect(&self, _: Block) -> bool {
        true
    }

    fn insert_latch(&mut self, header: Block, latches: &[Block]) -> Block {
        let new = Block::new(self.successors.len());
        for latch in latches {
            self.successors[latch.index()]
                .iter_mut()
                .filter(|target| **target == header)
                .for_each(|target| *target = new);
        }
        self.successors.push(vec![header]);
        new
    }
}

/// Loops of ten blocks: enter, header, body, two continues, a bounds check that leaves the function, four more blocks.
/// With `nested`, ten loops at a time lie inside one another.
fn generate(loops: usize, nested: bool) -> Generated {
    let exit = Block::new(loops * 10);
    let mut generated = Generated { successors: vec![Vec::new(); loops * 10 + 1], markers: Vec::new() };
    for at in 0..loops {
        let block = |offset: usize| Block::new(at * 10 + offset);
        let next = if at + 1 == loops { exit } else { Block::new((at + 1) * 10) };
        let edges: [(usize, &[Block]); 10] = [
            (0, &[block(1)]),
            (1, &[block(2), next]),
            (2, &[block(3), exit]),
            (3, &[block(4), block(5)]),
            (4, &[block(1)]),
            (5, &[block(6)]),
            (6, &[block(7), exit]),
            (7, &[block(8)]),
            (8, &[block(9), block(1)]),
            (9, &[block(1)]),
        ];
        for (from, to) in edges {
            generated.successors[at * 10 + from] = to.to_vec();
        }
        if nested && at % 10 != 0 {
            // The loop leaves to the header around it rather than to the next loop.
            generated.successors[at * 10 + 9].push(Block::new((at - at % 10) * 10 + 1));
        }
        let site = SiteId(at as u32);
        generated.markers.push(Marker { block: block(0), role: Role::Enter, site });
        generated.markers.push(Marker { block: block(2), role: Role::Body, site });
    }
    generated
}

fn run(graph: &mut Generated) -> usize {
    let flow = Flow::of(graph);
    let dominators = Dominators::of(&flow);
    let forest = LoopForest::from_flow(&flow, &dominators);
    let resolution = resolve(&flow, &dominators, &forest, &graph.markers);
    let mut honoured = 0;
    for hinted in &resolution.hinted {
        honoured += usize::from(codegen_pass::single_latch(graph, forest.get(hinted.id)).is_ok());
    }
    honoured
}

fn linear(criterion: &mut Criterion) {
    for (name, nested) in [("loops in a row", false), ("loops in nests of ten", true)] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20);
        for loops in [100, 1_000, 10_000] {
            group.throughput(Throughput::Elements(loops as u64 * 10));
            group.bench_with_input(BenchmarkId::from_parameter(loops * 10), &loops, |bencher, &loops| {
                bencher.iter_batched(
                    || generate(loops, nested),
                    |mut graph| black_box(run(&mut graph)),
                    criterion::BatchSize::LargeInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, linear);
criterion_main!(benches);
