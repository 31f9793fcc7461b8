//! The arguments of a launch, and the part of them that a block works on.

use core::num::NonZeroU32;
use device_std::thread;

/// The arguments of every kernel, as the crate describes them.
#[derive(Debug, Clone, Copy)]
pub struct Tensors<T> {
    /// Queries.
    pub q: *const T,
    /// Keys.
    pub k: *const T,
    /// Values.
    pub v: *const T,
    /// Gates.
    pub g: *const f32,
    /// How much of the old value is replaced.
    pub beta: *const f32,
    /// States before the first token, or null for zeros.
    pub state_in: *const f32,
    /// Outputs.
    pub y: *mut T,
    /// States after the last token.
    pub state_out: *mut f32,
    /// Where sequences start.
    pub starts: *const u32,
    /// Heads of values and states.
    pub heads: u32,
    /// Heads of keys and queries.
    pub key_heads: u32,
    /// Elements of a key.
    pub dk: u32,
    /// Elements of a value.
    pub dv: u32,
}

/// One head of one sequence: its arrays from the sequence's first token on, and how far apart tokens are in them.
#[derive(Debug, Clone, Copy)]
pub struct Head<T> {
    /// Queries of the head; the next token's are `key_stride` on.
    pub q: *const T,
    /// Keys of the head.
    pub k: *const T,
    /// Values of the head; the next token's are `value_stride` on.
    pub v: *const T,
    /// Gates; the next token's is `heads` on.
    pub g: *const f32,
    /// As the gates.
    pub beta: *const f32,
    /// The head's state before, or null.
    pub state_in: *const f32,
    /// Outputs, as the values.
    pub y: *mut T,
    /// The head's state after.
    pub state_out: *mut f32,
    /// Tokens of the sequence.
    pub tokens: u32,
    /// Heads of values and states.
    pub heads: usize,
    /// From token to token in `q` and `k`.
    pub key_stride: usize,
    /// From token to token in `v` and `y`.
    pub value_stride: usize,
}

impl<T> Tensors<T> {
    /// The head that the block works on.
    ///
    /// # Safety
    /// The arguments are as the crate says.
    #[inline(always)]
    pub unsafe fn head(&self) -> Head<T> {
        // SAFETY: there are heads, and no fewer than key heads: nothing is divided by 0.
        let [heads, shared_by] = unsafe {
            let key_heads = NonZeroU32::new_unchecked(self.key_heads);
            [self.heads, self.heads / key_heads].map(|x| NonZeroU32::new_unchecked(x))
        };
        let slot = thread::block_idx_x();
        let (sequence, head) = (slot / heads, slot % heads);
        let key_head = head / shared_by;
        // SAFETY: there is a block for each head of each sequence, and `starts` has one element more than sequences.
        let [first, end] = unsafe { [*self.starts.add(sequence as usize), *self.starts.add(sequence as usize + 1)] };
        let (slot, head, key_head, first) = (slot as usize, head as usize, key_head as usize, first as usize);
        let (heads, dk, dv) = (heads.get() as usize, self.dk as usize, self.dv as usize);
        let (key_stride, value_stride) = (self.key_heads as usize * dk, heads * dv);
        let keys = first * key_stride + key_head * dk;
        let (values, gates) = (first * value_stride + head * dv, first * heads + head);
        let state = slot * dv * dk;
        Head {
            q: self.q.wrapping_add(keys),
            k: self.k.wrapping_add(keys),
            v: self.v.wrapping_add(values),
            g: self.g.wrapping_add(gates),
            beta: self.beta.wrapping_add(gates),
            state_in: if self.state_in.is_null() { self.state_in } else { self.state_in.wrapping_add(state) },
            y: self.y.wrapping_add(values),
            state_out: self.state_out.wrapping_add(state),
            tokens: end - first as u32,
            heads,
            key_stride,
            value_stride,
        }
    }
}
