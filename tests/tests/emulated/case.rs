//! A kernel with its buffers, run on the host and in the emulator.

use device_std::Plain;
use emulator::{Arg, Device, Module, Shape};

/// Words of a buffer, at a multiple of 16 bytes.
#[derive(Debug, Clone)]
pub struct Words {
    chunks: Vec<Chunk>,
    len: usize,
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Chunk([u32; 4]);

impl From<&[u32]> for Words {
    fn from(words: &[u32]) -> Words {
        let chunk = |part: &[u32]| Chunk(std::array::from_fn(|at| part.get(at).copied().unwrap_or(0)));
        Words { chunks: words.chunks(4).map(chunk).collect(), len: words.len() }
    }
}

impl Words {
    pub fn to_vec(&self) -> Vec<u32> {
        self.chunks.iter().flat_map(|chunk| chunk.0).take(self.len).collect()
    }

    pub fn pointer(&mut self) -> *mut u8 {
        self.chunks.as_mut_ptr().cast()
    }

    /// The words as elements of another type.
    pub fn of<T: Plain>(&mut self) -> &mut [T] {
        let len = 4 * self.len / size_of::<T>();
        assert!(align_of::<T>() <= align_of::<Chunk>(), "chunks are aligned for every number");
        // SAFETY: the memory is initialized, aligned and as long, and any bytes are a `T`.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), len) }
    }
}

/// What a kernel gets, the buffers by their places.
#[derive(Debug, Clone, Copy)]
pub enum Given {
    Pointer(usize),
    /// Two parameters: the buffer and so many elements.
    Slice(usize, usize),
    Float(f32),
    Number(u64),
}

/// Runs the same function on the host.
pub type Host = Box<dyn Fn(&mut [Words])>;

/// One launch.
pub struct Case {
    pub kernel: &'static str,
    pub shape: Shape,
    pub buffers: Vec<Words>,
    pub given: Vec<Given>,
    pub host: Host,
}

impl Case {
    /// Fails where a buffer differs by a bit.
    pub fn check(&self, module: &Module) {
        let mut wanted = self.buffers.clone();
        (self.host)(&mut wanted);
        let mut device = Device::default();
        let buffers: Vec<_> = self.buffers.iter().map(|words| device.buffer(&words.to_vec())).collect();
        let mut args = Vec::new();
        for given in &self.given {
            match *given {
                Given::Pointer(at) => args.push(buffers[at].into()),
                Given::Slice(at, len) => args.extend([buffers[at].into(), Arg::from(len)]),
                Given::Float(value) => args.push(value.into()),
                Given::Number(value) => args.push(value.into()),
            }
        }
        let kernel = module.kernel(self.kernel).unwrap_or_else(|error| panic!("{error}"));
        device.launch(&kernel, self.shape, &args).unwrap_or_else(|error| panic!("{}: {error}", self.kernel));
        for (at, (buffer, wanted)) in buffers.iter().zip(&wanted).enumerate() {
            let found = device.read(buffer).expect("the buffer is ours");
            assert_eq!(found, wanted.to_vec(), "{}, buffer {at}", self.kernel);
        }
    }
}
