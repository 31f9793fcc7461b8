//! The kernels of `kernels/memory`.

use device_std::atomic::Atomic;
use device_std::host::{Launch, Output};
use emulator::Shape;
use memory::{BLOCK, Numbers, TILE};

use super::Random;
use super::case::Given::{self, Float, Pointer, Slice};
use super::case::{Case, Words};

/// What an output holds before: a kernel that writes too little shows.
const BEFORE: u32 = 0xdead_beef;

/// Each kernel at least once.
pub fn cases(random: &mut Random) -> Vec<Case> {
    let mut floats = |many: usize| -> Vec<u32> { (0..many).map(|_| random.float().to_bits()).collect() };
    let (long, tiles, tile_rows) = (floats(3 * BLOCK), floats(9 * TILE * TILE), floats(4 * 80));
    let (few, odd) = (floats(50), floats(11));
    let numbers: Vec<u32> = (0..1000).map(|_| random.bits()).collect();
    let block = BLOCK as u32;
    vec![
        case(
            "reverse",
            Shape::line(3, block),
            &[&long, &[BEFORE; 3 * BLOCK]],
            &[Slice(0, 3 * BLOCK), Slice(1, 3 * BLOCK)],
            |b, launch| {
                let [x, y] = b else { unreachable!() };
                let (x, out) = (&*x.of::<f32>(), Output::new(y.of::<f32>()));
                run(launch, || memory::reverse(x, out.per_thread()));
            },
        ),
        case("instances", Shape::line(2, 100), &[&[BEFORE; 200]], &[Slice(0, 200)], |b, launch| {
            let out = Output::new(b[0].of::<u32>());
            run(launch, || memory::instances(out.per_thread()));
        }),
        Case {
            shape: Shape { grid: [3, 3, 1], block: [TILE as u32, TILE as u32, 1], shared_bytes: 0 },
            ..case(
                "transpose",
                Shape::line(1, 1),
                &[&tiles, &[BEFORE; 9 * TILE * TILE]],
                &[Slice(0, 9 * TILE * TILE), Pointer(1)],
                |b, _| {
                    let [x, y] = b else { unreachable!() };
                    let (x, y) = (&*x.of::<f32>(), y.pointer().cast());
                    let launch = Launch::new((3, 3), (TILE as u32, TILE as u32));
                    // SAFETY: `y` is as large as `x`, and there is a thread for each element.
                    run(launch, || unsafe { memory::transpose(x, y) });
                },
            )
        },
        case(
            "vectors",
            Shape::line(2, 40),
            &[&tile_rows, &[BEFORE; 320]],
            &[Slice(0, 320), Slice(1, 320)],
            |b, launch| {
                let [x, y] = b else { unreachable!() };
                let (x, out) = (&*x.of::<f32>(), Output::new(y.of::<f32>()));
                run(launch, || memory::vectors(x, out.per_thread()));
            },
        ),
        case("dynamic_size", Shape::line(1, 1).with_shared(100), &[&[BEFORE; 2]], &[Slice(0, 1)], |b, launch| {
            let out = Output::new(b[0].of::<u64>());
            run(launch.dynamic_shared(100), || memory::dynamic_size(out.per_thread()));
        }),
        case(
            "dynamic_parts",
            Shape::line(2, 33).with_shared(9 * 33),
            &[&[BEFORE; 132]],
            &[Slice(0, 66)],
            |b, launch| {
                let out = Output::new(b[0].of::<u64>());
                run(launch.dynamic_shared(9 * 33), || memory::dynamic_parts(out.per_thread()));
            },
        ),
        case("square", Shape::line(2, 7), &[&few, &[BEFORE; 50]], &[Slice(0, 50), Slice(1, 50)], |b, launch| {
            let [x, y] = b else { unreachable!() };
            let (x, out) = (&*x.of::<f32>(), Output::new(y.of::<f32>()));
            run(launch, || memory::square(x, out.per_thread()));
        }),
        case(
            "scale_tiles",
            Shape::line(1, 4),
            &[&odd, &[BEFORE; 11]],
            &[Slice(0, 11), Float(3.25), Slice(1, 11)],
            |b, launch| {
                let [x, y] = b else { unreachable!() };
                let (x, out) = (&*x.of::<f32>(), Output::new(y.of::<f32>()));
                run(launch, || memory::scale_tiles(x, 3.25, out.per_thread()));
            },
        ),
        case(
            "histogram",
            Shape::line(3, 40),
            &[&numbers, &[5, 0].repeat(64)],
            &[Slice(0, 1000), Slice(1, 64)],
            |b, launch| {
                let [x, bins] = b else { unreachable!() };
                let (x, bins) = (&*x.of::<u32>(), Atomic::from_mut_slice(bins.of::<u64>()));
                run(launch, || memory::histogram(x, bins));
            },
        ),
        case(
            "message",
            Shape::line(2, 4),
            &[&[0; 2], &[0; 2], &[BEFORE; 8]],
            &[Slice(0, 2), Slice(1, 2), Slice(2, 8)],
            |b, launch| {
                let [words, flags, out] = b else { unreachable!() };
                let words = Atomic::from_mut_slice(words.of::<u32>());
                let (flags, out) = (Atomic::from_mut_slice(flags.of::<u32>()), Output::new(out.of::<u32>()));
                run(launch, || memory::message(words, flags, out.per_thread()));
            },
        ),
        case("every_operation", Shape::line(1, 1), &[&one_of_each()], &[Slice(0, 1)], |b, launch| {
            let numbers: *const Numbers = b[0].pointer().cast_const().cast();
            // SAFETY: the words are numbers of these types, in this order, and nothing else uses them.
            let numbers = unsafe { std::slice::from_ref(&*numbers) };
            run(launch, || memory::every_operation(numbers));
        }),
    ]
}

/// The words of [`Numbers`], its last one padding.
fn one_of_each() -> Vec<u32> {
    let wide = [100, -100i64 as u64, 1.5f64.to_bits()];
    let mut words: Vec<u32> = wide.iter().flat_map(|wide| [*wide as u32, (*wide >> 32) as u32]).collect();
    words.extend([100, -100i32 as u32, 1.5f32.to_bits(), BEFORE]);
    words
}

fn case(
    kernel: &'static str,
    shape: Shape,
    buffers: &[&[u32]],
    given: &[Given],
    host: impl Fn(&mut [Words], Launch) + 'static,
) -> Case {
    let launch = Launch::new(shape.grid[0], shape.block[0]);
    Case {
        kernel,
        shape,
        buffers: buffers.iter().map(|words| Words::from(*words)).collect(),
        given: given.to_vec(),
        host: Box::new(move |buffers| host(buffers, launch.clone())),
    }
}

fn run(launch: Launch, kernel: impl Fn()) {
    launch.run(kernel).expect("the host runs it");
}
