//! When bellperson's prover began and ended its two parts, by the lines that it logs.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::{LevelFilter, Log, Metadata, Record};

/// Takes down the time of bellperson's lines.
struct Listener(Mutex<Vec<(Line, Instant)>>);

/// A line that says where the prover is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Begun,
    Synthesised,
    Proved,
}

static LISTENER: Listener = Listener(Mutex::new(Vec::new()));

impl Log for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("bellperson")
    }

    fn log(&self, record: &Record<'_>) {
        let now = Instant::now();
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        let line = if text.ends_with("is being used!") {
            Line::Begun
        } else if text.starts_with("synthesis time") {
            Line::Synthesised
        } else if text.starts_with("prover time") {
            Line::Proved
        } else {
            return;
        };
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((line, now));
    }

    fn flush(&self) {}
}

/// Time that one proof's parts took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// From the circuits to their assignments and evaluations.
    pub synthesis: Duration,
    /// From those to the proofs.
    pub proving: Duration,
}

/// Begins to listen.
pub fn listen() -> Result<(), String> {
    log::set_logger(&LISTENER).map_err(|cause| format!("logger: {cause}"))?;
    log::set_max_level(LevelFilter::Info);
    Ok(())
}

/// What was heard since the last call, which must be one proof.
pub fn take() -> Result<Parts, String> {
    let mut lines = LISTENER.0.lock().unwrap_or_else(PoisonError::into_inner);
    let heard = std::mem::take(&mut *lines);
    match heard[..] {
        [
            (Line::Begun, begun),
            (Line::Synthesised, synthesised),
            (Line::Proved, proved),
        ] => Ok(Parts {
            synthesis: synthesised - begun,
            proving: proved - synthesised,
        }),
        _ => Err(format!(
            "found {} lines of bellperson's log, expected its beginning, \"synthesis time\" and \"prover time\"",
            heard.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_proof_make_its_parts() {
        let say = |text: &str| {
            let arguments = format_args!("{text}").to_string();
            LISTENER.log(
                &Record::builder()
                    .args(format_args!("{arguments}"))
                    .target("bellperson::groth16")
                    .build(),
            );
        };
        say("Bellperson 0.27.0 with SupraSeal is being used!");
        say("starting proof timer");
        assert!(take().is_err(), "a proof without an end");
        say("Bellperson 0.27.0 with SupraSeal is being used!");
        std::thread::sleep(Duration::from_millis(2));
        say("synthesis time: 2ms");
        say("starting proof timer");
        say("prover time: 1ms");
        let parts = take().expect("one proof");
        assert!(parts.synthesis >= Duration::from_millis(2));
        assert!(take().is_err(), "nothing since");
    }
}
