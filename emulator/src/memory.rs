//! Memory that outlives a block: buffers, module variables, kernel parameters. Exact to the byte.
//!
//! The generic address space is cut into windows of 2^36 bytes, and each buffer gets a window of its own, so that
//! finding it is a shift and an index into the next one cannot happen by accident: whatever leaves a buffer lands in no
//! buffer. Windows are never reused, so a freed buffer stays recognizable. Shared and local memory have a window each
//! too.
//!
//! Blocks run on several cores, so words are atomics, used relaxed: a race between blocks gives one of the values that
//! were written, never undefined behaviour. A 64-bit access is two words and may tear in such a race; 64-bit atomics
//! take a lock and do not tear among themselves.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bits of an address below the window number.
pub(crate) const WINDOW_BITS: u32 = 36;
/// Window of shared memory.
pub(crate) const SHARED_WINDOW: u64 = 1;
/// Window of local memory.
pub(crate) const LOCAL_WINDOW: u64 = 2;
/// Window of kernel parameters.
pub(crate) const PARAM_WINDOW: u64 = 3;
/// Window of the addresses of functions.
pub(crate) const CODE_WINDOW: u64 = 4;
/// First window of a buffer.
pub(crate) const FIRST_WINDOW: u64 = 16;

/// All four bytes of a word written.
pub(crate) const WRITTEN: u8 = 0xf;

/// One buffer.
pub(crate) struct Region {
    pub name: String,
    words: Box<[AtomicU32]>,
    /// Bytes; the last word may be longer.
    pub len: u64,
    /// Per word, a bit for each byte that was written; `None` once all are.
    written: Option<Box<[AtomicU8]>>,
    pub writable: bool,
    pub live: bool,
    wide: Mutex<()>,
}

impl Region {
    /// A buffer that holds `bytes`.
    pub(crate) fn with(name: String, bytes: &[u8], writable: bool) -> Region {
        let mut r = Region::blank(name, bytes.len() as u64, writable);
        r.written = None;
        r.fill(0, bytes);
        r
    }

    /// A buffer of `len` bytes that nothing wrote. It reads as a pattern, so that no result depends on luck.
    pub(crate) fn blank(name: String, len: u64, writable: bool) -> Region {
        let n = len.div_ceil(4) as usize;
        Region {
            name,
            words: (0..n).map(|_| AtomicU32::new(0xcdcd_cdcd)).collect(),
            len,
            written: Some((0..n).map(|_| AtomicU8::new(0)).collect()),
            writable,
            live: true,
            wide: Mutex::new(()),
        }
    }

    /// Releases the storage; the window stays taken.
    pub(crate) fn free(&mut self) {
        self.words = Box::default();
        self.written = None;
        self.live = false;
        self.len = 0;
    }

    /// Host write.
    pub(crate) fn fill(&mut self, at: u64, bytes: &[u8]) {
        for (k, &b) in bytes.iter().enumerate() {
            let p = at + k as u64;
            let (w, s) = ((p / 4) as usize, (p % 4) * 8);
            let word = self.words[w].get_mut();
            *word = *word & !(0xff << s) | u32::from(b) << s;
            if let Some(v) = &mut self.written {
                *v[w].get_mut() |= 1 << (p % 4);
            }
        }
    }

    /// Host read of the whole.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out: Vec<u8> = self.words.iter().flat_map(|w| w.load(Relaxed).to_le_bytes()).collect();
        out.truncate(self.len as usize);
        out
    }

    /// The first byte that nothing wrote.
    pub(crate) fn first_unwritten(&self) -> Option<u64> {
        let v = self.written.as_ref()?;
        (0..self.len).find(|&p| v[(p / 4) as usize].load(Relaxed) >> (p % 4) & 1 == 0)
    }

    /// Whether any byte may be unwritten.
    #[inline]
    pub(crate) fn tracks(&self) -> bool {
        self.written.is_some()
    }

    #[inline]
    pub(crate) fn word(&self, w: usize) -> u32 {
        self.words[w].load(Relaxed)
    }

    #[inline]
    pub(crate) fn set_word(&self, w: usize, v: u32) {
        self.words[w].store(v, Relaxed);
    }

    /// Replaces the bits of `bits` in a word.
    #[inline]
    pub(crate) fn set_part(&self, w: usize, bits: u32, v: u32) {
        // The closure never declines, so the update always happens.
        let _ = self.words[w].fetch_update(Relaxed, Relaxed, |old| Some(old & !bits | v & bits));
    }

    #[inline]
    pub(crate) fn written(&self, w: usize) -> u8 {
        self.written.as_ref().map_or(WRITTEN, |v| v[w].load(Relaxed))
    }

    /// Records which bytes of a word are written (`now`) of those touched (`touched`).
    #[inline]
    pub(crate) fn mark(&self, w: usize, touched: u8, now: u8) {
        if let Some(v) = &self.written {
            if touched == WRITTEN {
                v[w].store(now, Relaxed);
            } else {
                let _ = v[w].fetch_update(Relaxed, Relaxed, |old| Some(old & !touched | now));
            }
        }
    }

    /// Atomic update of a word's bits; gives the old word.
    pub(crate) fn update32(&self, w: usize, f: impl Fn(u32) -> u32) -> u32 {
        match self.words[w].fetch_update(Relaxed, Relaxed, |old| Some(f(old))) {
            Ok(old) | Err(old) => old,
        }
    }

    /// Atomic update of two words; atomic among such updates.
    pub(crate) fn update64(&self, w: usize, f: impl Fn(u64) -> u64) -> u64 {
        let _held = self.lock();
        let old = u64::from(self.word(w)) | u64::from(self.word(w + 1)) << 32;
        let new = f(old);
        self.set_word(w, new as u32);
        self.set_word(w + 1, (new >> 32) as u32);
        old
    }

    /// The lock of 64-bit atomics.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.wide.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All buffers, by window.
#[derive(Default)]
pub(crate) struct Memory {
    regions: Vec<Region>,
}

impl Memory {
    /// Adds a buffer and gives its address.
    pub(crate) fn add(&mut self, r: Region) -> u64 {
        self.regions.push(r);
        (FIRST_WINDOW + self.regions.len() as u64 - 1) << WINDOW_BITS
    }

    /// The buffer whose window holds `addr`.
    #[inline]
    pub(crate) fn find(&self, addr: u64) -> Option<&Region> {
        let n = (addr >> WINDOW_BITS).wrapping_sub(FIRST_WINDOW);
        self.regions.get(n as usize)
    }

    pub(crate) fn find_mut(&mut self, addr: u64) -> Option<&mut Region> {
        let n = (addr >> WINDOW_BITS).wrapping_sub(FIRST_WINDOW);
        self.regions.get_mut(n as usize)
    }

    /// An address in words, for a fault.
    pub(crate) fn describe(&self, addr: u64) -> String {
        let off = addr & ((1 << WINDOW_BITS) - 1);
        let window = addr >> WINDOW_BITS;
        match window {
            0 => format!("address {addr:#x}, which is no buffer (a null pointer plus {off})"),
            SHARED_WINDOW => format!("byte {off} of shared memory"),
            LOCAL_WINDOW => format!("byte {off} of local memory"),
            PARAM_WINDOW => format!("byte {off} of the kernel's parameters"),
            _ => match self.find(addr) {
                Some(r) if r.live => format!("byte {off} of {} ({} bytes)", r.name, r.len),
                Some(r) => format!("byte {off} of {}, which was freed", r.name),
                None => format!("address {addr:#x}, which is no buffer"),
            },
        }
        .replace_before_start(self, addr)
    }
}

trait BeforeStart {
    fn replace_before_start(self, m: &Memory, addr: u64) -> String;
}

impl BeforeStart for String {
    /// An address just below a buffer is more telling as "before" it than as the far end of the window below.
    fn replace_before_start(self, m: &Memory, addr: u64) -> String {
        let short = addr.wrapping_neg() & ((1 << WINDOW_BITS) - 1);
        match m.find(addr.wrapping_add(1 << 20)) {
            Some(r) if short > 0 && short <= 1 << 20 && r.live => format!("{short} bytes before {}", r.name),
            _ => self,
        }
    }
}
