//! Asking for memory before it is needed.
//!
//! With many flows the state of the next one to act is in no near cache. Who it will be is known a few events ahead: it is
//! the addressee of the packet that is next to arrive. Loading its state meanwhile hides the wait.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Brings a value into the nearest cache in the background. Changes nothing, and does nothing on processors for which
/// Rust has no stable way to ask.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: a prefetch never faults and changes no value, whatever its address; this one is within a live value.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
