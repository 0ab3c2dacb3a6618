//! Ends the process with success when it outlives its deadline by far.
//!
//! The deadline is checked between steps; a step that blocks in the kernel (a dead network file system, a payload that
//! never ends) cannot check it. An alarm signal can: its handler ends the process with exit code 0 and whatever was
//! written so far, which is nothing. The store is safe at any instant, so nothing is lost. No thread is started.

#![expect(unsafe_code, reason = "signal handlers and timers have no safe interface in std")]

use std::time::Duration;

/// Arms the alarm: after `limit` the process is gone, exit code 0.
#[cfg(unix)]
pub fn arm(limit: Duration) {
    extern "C" fn leave(_signal: libc::c_int) {
        // SAFETY: `_exit` is async-signal-safe and does not return.
        unsafe { libc::_exit(0) }
    }
    let whole = libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX);
    let part = libc::suseconds_t::from(i32::try_from(limit.subsec_micros()).unwrap_or(0));
    let zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: zero, it_value: libc::timeval { tv_sec: whole, tv_usec: part.max(1) } };
    // SAFETY: the handler is a plain function that lives as long as the process; both calls read initialised
    // values and write to no memory of ours.
    unsafe {
        let handler: extern "C" fn(libc::c_int) = leave;
        libc::signal(libc::SIGALRM, handler as libc::sighandler_t);
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}

/// Elsewhere the deadline alone must do.
#[cfg(not(unix))]
pub fn arm(_limit: Duration) {}
