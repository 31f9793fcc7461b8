//! The kernels of `kernels/pieces` that exchange, move and unroll; its arithmetic is in `math.rs`.

use device_std::host;
use emulator::Shape;
use pieces::memory::{atomic_access, atomic_add, atomic_others, fences};

use super::Random;
use super::case::Given::{Number, Pointer};
use super::case::{Case, Words};

/// What a kernel's values are.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Small numbers, of which many are equal, and any.
    Words,
    /// Small numbers only: the kernel multiplies.
    Small,
    Floats,
    Doubles,
}
use Kind::{Doubles, Floats, Small, Words as Any};

struct Piece {
    name: &'static str,
    kind: Kind,
    /// Bytes of a thread's values, and of its results.
    bytes: [usize; 2],
    number: Option<u64>,
    host: unsafe fn(*const u8, *mut u8),
}

/// `module::kernel(kind, bytes, number) => bytes` for each kernel.
macro_rules! table {
    ($($module:ident::$name:ident($kind:ident, $from:literal $(, $number:literal)?) => $to:literal;)+) => {
        [$(Piece {
            name: stringify!($name),
            kind: $kind,
            bytes: [$from, $to],
            number: None $(.or(Some($number)))?,
            // SAFETY: whoever calls it has values and places for each thread.
            host: |x, y| unsafe { pieces::$module::$name(x.cast() $(, $number)?, y.cast()) },
        }),+]
    };
}

fn table() -> impl IntoIterator<Item = Piece> {
    table! {
        exchange::shfl(Any, 4, 5) => 4;
        exchange::shfl_down(Any, 4, 3) => 4;
        exchange::shfl_up(Any, 4, 0x1_0000_0001) => 4;
        exchange::shfl_xor(Any, 4, 6) => 4;
        exchange::shfl_u8(Any, 1) => 1;
        exchange::shfl_f64(Doubles, 8) => 8;
        exchange::segment_shfl(Any, 4, 11) => 4;
        exchange::segment_shfl_down(Any, 4, 3) => 4;
        exchange::segment_shfl_up(Any, 4, 2) => 4;
        exchange::vote_any(Any, 4) => 4;
        exchange::vote_all(Any, 4) => 4;
        exchange::ballot(Any, 4) => 8;
        exchange::segment_ballot(Any, 4) => 8;
        exchange::match_any(Any, 4) => 8;
        exchange::match_any_f64(Doubles, 8) => 8;
        exchange::match_all(Any, 4) => 4;
        exchange::reduce_sum(Floats, 4) => 4;
        exchange::reduce_add(Any, 4) => 4;
        exchange::reduce_min(Any, 4) => 4;
        exchange::reduce_max(Any, 4) => 4;
        exchange::reduce_bits(Any, 4) => 12;
        exchange::segment_reduce_add(Any, 4) => 4;
        exchange::scan_sum(Floats, 4) => 4;
        exchange::queries(Any, 4) => 20;
        exchange::group_barrier(Any, 4) => 4;

        memory::vector_words(Floats, 16) => 16;
        memory::vector_double_words(Doubles, 16) => 16;
        memory::vector_halves(Any, 16) => 16;
        memory::shared_array(Any, 4) => 4;
        memory::shared_dynamic(Any, 4) => 4;

        registers::unroll_shifts(Any, 4) => 4;
        registers::unroll_names(Any, 4) => 4;
        registers::unroll_tuples(Small, 4) => 4;
        registers::unroll_capped(Small, 4) => 4;
        registers::strided_sum_8(Floats, 32) => 4;
        registers::strided_sum_8_by_2(Floats, 32) => 8;
        registers::strided_max_9(Floats, 36) => 4;
        registers::strided_min_9(Small, 36) => 4;
    }
}

/// One sub-group and two, all whole: what lanes that are not there give is left open.
const BLOCKS: [u32; 2] = [64, 32];

/// Each kernel with different values and with the same one for all.
pub fn cases(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for piece in table() {
        for block in BLOCKS {
            let threads = block as usize;
            let values = words(piece.kind, threads * piece.bytes[0], random);
            let same = vec![7; values.len()];
            cases.extend([values, same].map(|values| case(&piece, block, &values)));
        }
    }
    cases.extend(of_one_thread());
    cases
}

fn words(kind: Kind, bytes: usize, random: &mut Random) -> Vec<u32> {
    let mut words = Vec::new();
    while 4 * words.len() < bytes {
        match kind {
            Any if random.bits().is_multiple_of(4) => words.push(random.bits()),
            Any | Small => words.push(random.bits() % 3),
            Floats => words.push(random.float().to_bits()),
            Doubles => {
                let double = f64::from(random.float()).to_bits();
                words.extend([double as u32, (double >> 32) as u32]);
            }
        }
    }
    words
}

fn case(piece: &Piece, block: u32, values: &[u32]) -> Case {
    let results = vec![0xdead_beef; (block as usize * piece.bytes[1]).div_ceil(4)];
    let (host, dynamic) = (piece.host, if piece.name == "shared_dynamic" { 4 * block } else { 0 });
    let number = piece.number.map(Number);
    Case {
        kernel: piece.name,
        shape: Shape::line(1, block).with_shared(dynamic),
        buffers: vec![Words::from(values), Words::from(&results[..])],
        given: [Some(Pointer(0)), number, Some(Pointer(1))].into_iter().flatten().collect(),
        host: Box::new(move |buffers| {
            let [x, y] = buffers else { unreachable!() };
            let (x, y) = (x.pointer().cast_const(), y.pointer());
            // SAFETY: both have what the table says for each thread.
            host::launch(1, block, dynamic as usize, || unsafe { host(x, y) }).expect("the host runs it");
        }),
    }
}

/// Kernels without values for each thread.
fn of_one_thread() -> [Case; 4] {
    let case = |kernel, buffers: &[&[u32]], host: fn(&[*mut u8])| Case {
        kernel,
        shape: Shape::line(1, 1),
        buffers: buffers.iter().map(|words| Words::from(*words)).collect(),
        given: (0..buffers.len()).map(Pointer).collect(),
        host: Box::new(move |buffers| {
            let pointers: Vec<*mut u8> = buffers.iter_mut().map(Words::pointer).collect();
            host::launch(1, 1, 0, || host(&pointers)).expect("the host runs it");
        }),
    };
    [
        case("fences", &[], |_| fences()),
        // SAFETY: the pointer is to a number, which one thread uses.
        case("atomic_add", &[&[5]], |p| unsafe { atomic_add(p[0].cast_const().cast()) }),
        // SAFETY: the pointer is to two words, one number, which one thread uses.
        case("atomic_access", &[&[5, 6]], |p| unsafe { atomic_access(p[0].cast_const().cast()) }),
        // SAFETY: the pointers are to a number and a float, which one thread uses.
        case("atomic_others", &[&[5], &[1.5f32.to_bits()]], |p| unsafe {
            atomic_others(p[0].cast_const().cast(), p[1].cast_const().cast());
        }),
    ]
}
