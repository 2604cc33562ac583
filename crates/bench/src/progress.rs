//! The progress bar on standard error; nothing is drawn when that is no terminal.

use cuzk_groth16::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// One bar, which starts over with every phase.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) =
            ProgressStyle::with_template("{msg:22} [{bar:40}] {percent:>3}% {elapsed_precise}")
        {
            bar.set_style(style);
        }
        Self { bar }
    }
}

impl Progress for Bar {
    fn begin(&self, phase: &str, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(0);
        self.bar.set_message(phase.to_owned());
    }

    fn advance(&self, count: u64) {
        self.bar.inc(count);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
