//! What was found: a table for people, and the same as JSON.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::Outcome;

/// Rows in the order in which they were made.
pub(crate) struct Table {
    rows: Vec<(String, Value)>,
    failed: bool,
    /// What is timed must have this in its name.
    pub(crate) only: String,
}

/// To standard output, at once.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // nobody listens: nothing to be done
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            rows: Vec::new(),
            failed: false,
            only: String::new(),
        }
    }

    pub(crate) fn note(&mut self, name: &str, text: &str) {
        self.push(name, json!({ "note": text }));
    }

    pub(crate) fn failed(&mut self, name: &str, error: &dyn Error) {
        self.failed = true;
        self.push(name, json!({ "failed": error.to_string() }));
    }

    pub(crate) fn any_failed(&self) -> bool {
        self.failed
    }

    /// Runs a check; a panic is a failure too.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce() -> Outcome) {
        let start = Instant::now();
        let result = match catch_unwind(AssertUnwindSafe(check)) {
            Ok(Ok(())) => json!({ "ok": true, "seconds": start.elapsed().as_secs_f64() }),
            Ok(Err(error)) => json!({ "failed": error.to_string() }),
            Err(_) => json!({ "failed": "panicked" }),
        };
        self.failed |= result.get("failed").is_some();
        self.push(name, result);
    }

    /// Whether a row of that name is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Times `run` several times after a first one; `target`: milliseconds to reach.
    pub(crate) fn time(
        &mut self,
        name: &str,
        repeats: usize,
        target: Option<f64>,
        mut run: impl FnMut() -> Outcome,
    ) {
        if !self.wants(name) {
            return;
        }
        let timed = catch_unwind(AssertUnwindSafe(|| -> Outcome<Vec<f64>> {
            run()?;
            (0..repeats)
                .map(|_| {
                    let start = Instant::now();
                    run()?;
                    Ok(start.elapsed().as_secs_f64() * 1e3)
                })
                .collect()
        }));
        match timed {
            Ok(Ok(mut times)) => {
                times.sort_by(f64::total_cmp);
                self.push(name, json!({ "ms": times[times.len() / 2], "least_ms": times[0], "target_ms": target }));
            }
            Ok(Err(error)) => self.failed(name, error.as_ref()),
            Err(_) => {
                self.failed = true;
                self.push(name, json!({ "failed": "panicked" }));
            }
        }
    }

    fn push(&mut self, name: &str, value: Value) {
        say(&line(name, &value));
        self.rows.push((name.into(), value));
    }

    pub(crate) fn print(&self) {
        say("");
        for (name, value) in &self.rows {
            say(&line(name, value));
        }
        say(if self.failed { "FAILED" } else { "all passed" });
    }

    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(name, value)| json!({ "name": name, "result": value }))
            .collect();
        fs::write(
            path,
            serde_json::to_vec_pretty(&json!({ "failed": self.failed, "rows": rows }))?,
        )
    }
}

fn line(name: &str, value: &Value) -> String {
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    match (number("ms"), number("least_ms"), number("target_ms")) {
        (Some(ms), Some(least), Some(target)) => {
            format!("{name:<44} {ms:>10.2} ms  least {least:>9.2}  target {target:>7.1}")
        }
        (Some(ms), Some(least), None) => format!("{name:<44} {ms:>10.2} ms  least {least:>9.2}"),
        _ => match (text("note"), text("failed")) {
            (Some(note), _) => format!("{name:<44} {note}"),
            (_, Some(failed)) => format!("{name:<44} FAILED: {failed}"),
            _ => format!(
                "{name:<44} ok ({:.1} s)",
                number("seconds").unwrap_or_default()
            ),
        },
    }
}
