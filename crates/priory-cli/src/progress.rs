//! A progress bar on standard error, for what takes longer than a second and is watched on a terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// What progress is counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CountedIn {
    #[default]
    Bytes,
    Files,
}

/// How far reading has come.
pub(crate) struct Progress {
    started: Instant,
    size: Option<u64>,
    counted_in: CountedIn,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing is drawn before a second has passed.
    pub(crate) fn new(size: Option<u64>, counted_in: CountedIn) -> Self {
        Progress { started: Instant::now(), size, counted_in, bar: None }
    }

    /// So much is done.
    pub(crate) fn advance(&mut self, position: u64) {
        if self.bar.is_none()
            && self.started.elapsed() > Duration::from_secs(1)
            && std::io::stderr().is_terminal()
        {
            self.bar = Some(self.draw());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
    }

    fn draw(&self) -> ProgressBar {
        let template = match self.counted_in {
            CountedIn::Bytes => "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            CountedIn::Files => "{bar:30} {pos} of {len} files, {eta} left",
        };
        let unknown = "{spinner} {bytes}, {bytes_per_sec}";
        let (bar, template) = match self.size {
            Some(size) => (ProgressBar::new(size), template),
            None => (ProgressBar::new_spinner(), unknown),
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        bar.with_style(style).with_elapsed(self.started.elapsed())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
