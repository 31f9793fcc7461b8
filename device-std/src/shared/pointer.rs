//! A place in shared memory.

use core::fmt::{self, Debug, Formatter};
use core::ptr;

/// A place in the shared memory of a block: a value, an array or a slice that all its threads can reach.
///
/// It is a pointer: making, copying and dividing it is safe, reading and writing is not, since other threads may be at
/// the same place. Accesses of different threads to the same element must have a barrier between them, unless all only
/// read or all are through [`Atomic`](crate::atomic::Atomic). Where the index or the length is out of range, the host
/// panics; a GPU does not look.
pub struct Shared<T: ?Sized> {
    place: *mut T,
}

impl<T: ?Sized> Clone for Shared<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Shared<T> {}

impl<T: ?Sized> Debug for Shared<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.place).finish()
    }
}

impl<T: ?Sized> Shared<T> {
    #[inline(always)]
    pub(super) fn new(place: *mut T) -> Shared<T> {
        Shared { place }
    }

    /// The address.
    #[inline(always)]
    pub fn as_ptr(self) -> *mut T {
        self.place
    }

    /// The value, by reference.
    ///
    /// # Safety
    /// It was written before, and for as long as the reference is used no thread writes it other than through an
    /// [`Atomic`](crate::atomic::Atomic) within. The block outlives `'a`.
    #[inline(always)]
    pub unsafe fn as_ref<'a>(self) -> &'a T {
        // SAFETY: the caller's promise.
        unsafe { &*self.place }
    }
}

impl<T> Shared<T> {
    /// The value.
    ///
    /// # Safety
    /// It was written before, and no other thread writes it without a barrier in between.
    #[inline(always)]
    pub unsafe fn get(self) -> T
    where
        T: Copy,
    {
        // SAFETY: the caller's promise.
        unsafe { *self.place }
    }

    /// Writes the value.
    ///
    /// # Safety
    /// No other thread reads or writes it without a barrier in between.
    #[inline(always)]
    pub unsafe fn set(self, value: T) {
        // SAFETY: the caller's promise. What was there needs no drop.
        unsafe { *self.place = value };
    }
}

impl<T, const N: usize> Shared<[T; N]> {
    /// The array as a slice.
    #[inline(always)]
    pub fn as_slice(self) -> Shared<[T]> {
        Shared::new(ptr::slice_from_raw_parts_mut(self.place.cast(), N))
    }

    /// The place of element `index`.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn at(self, index: usize) -> Shared<T> {
        self.as_slice().at(index)
    }

    /// Element `index`.
    ///
    /// # Safety
    /// `index` is below `N`; and as for [`get`](Self::get) of that element.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn read(self, index: usize) -> T
    where
        T: Copy,
    {
        // SAFETY: the caller's promise.
        unsafe { self.as_slice().read(index) }
    }

    /// Writes element `index`.
    ///
    /// # Safety
    /// `index` is below `N`; and as for [`set`](Self::set) of that element.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn write(self, index: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.as_slice().write(index, value) };
    }
}

impl<T> Shared<[T]> {
    /// The number of elements.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.place.len()
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The place of element `index`.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn at(self, index: usize) -> Shared<T> {
        check(index < self.len(), "an index is out of range of a shared array");
        Shared::new(self.place.cast::<T>().wrapping_add(index))
    }

    /// Element `index`.
    ///
    /// # Safety
    /// `index` is below the length; and as for [`get`](Shared::get) of that element.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn read(self, index: usize) -> T
    where
        T: Copy,
    {
        // SAFETY: the caller's promise.
        unsafe { self.at(index).get() }
    }

    /// Writes element `index`.
    ///
    /// # Safety
    /// `index` is below the length; and as for [`set`](Shared::set) of that element.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub unsafe fn write(self, index: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.at(index).set(value) };
    }

    /// The first `middle` elements, and the rest. Where there are not so many, the parts are longer than the memory.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn split_at(self, middle: usize) -> (Shared<[T]>, Shared<[T]>) {
        check(middle <= self.len(), "a shared slice is shorter than the part that is split off");
        let start = self.place.cast::<T>();
        let rest = ptr::slice_from_raw_parts_mut(start.wrapping_add(middle), self.len().wrapping_sub(middle));
        (Shared::new(ptr::slice_from_raw_parts_mut(start, middle)), Shared::new(rest))
    }

    /// The same memory as a slice of as many whole `U` as fit. Its address must be a multiple of `U`'s alignment before
    /// anything is read or written.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn cast<U>(self) -> Shared<[U]> {
        const { assert!(size_of::<U>() > 0, "a slice of nothing needs no memory") };
        check(self.place.cast::<U>().is_aligned(), "shared memory is not aligned for the type that it is cast to");
        let bytes = self.len().wrapping_mul(size_of::<T>());
        Shared::new(ptr::slice_from_raw_parts_mut(self.place.cast(), bytes / size_of::<U>()))
    }
}

/// Panics on the host where `holds` is false.
#[inline(always)]
#[cfg_attr(on_host, track_caller)]
fn check(holds: bool, otherwise: &'static str) {
    if cfg!(on_host) {
        assert!(holds, "{otherwise}");
    }
}
