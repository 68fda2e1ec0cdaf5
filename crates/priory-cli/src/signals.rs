//! Signals that end the program: what it was writing is removed first.

use std::process;
use std::thread;

use priory_input::store;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Waits on a thread of its own for a signal that ends the program. If there can be no such thread, a signal ends the
/// program as it always does.
pub(crate) fn tidy_up_when_told_to_end() {
    let ignored = ignored();
    let signals = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let Ok(mut signals) = Signals::new(signals) else { return };
    let waiting = move || {
        if let Some(signal) = signals.forever().next() {
            let _nothing_more = store::remove_unfinished();
            // Shells tell a program that was ended by a signal from one that took it for its own business: only the
            // former ends a loop. Where the signal cannot end the program, the code is what a shell would report.
            let _ = emulate_default_handler(signal);
            process::exit(128 + signal);
        }
    };
    let _ = thread::Builder::new().name("signals".into()).spawn(waiting);
}

/// The signals that whoever started the program wants it to ignore, as nohup does, one bit for each. Elsewhere than on
/// Linux nobody says.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
