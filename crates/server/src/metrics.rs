//! The engine's picture in the Prometheus text exposition format, version 0.0.4.

use std::fmt::{Display, Write};

use cuzk_engine::{CircuitTotals, Counters, Status};

/// The format's media type.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Renders all metrics.
pub fn render(status: &Status) -> String {
    let mut text = Text::default();
    totals(&mut text, &status.counters);
    by_circuit(&mut text, &status.counters);
    gauges(&mut text, status);
    text.0
}

fn totals(text: &mut Text, c: &Counters) {
    let counters = [
        ("jobs_accepted", "Jobs accepted.", c.accepted),
        (
            "jobs_attached",
            "Submissions attached to a job that was there.",
            c.attached,
        ),
        (
            "jobs_recovered",
            "Jobs that came back from the journal.",
            c.recovered,
        ),
        (
            "proof_verify_failures",
            "Proofs that did not verify; none of them left the process.",
            c.verify_failures,
        ),
        (
            "device_faults",
            "Partitions that a device failed on.",
            c.device_faults,
        ),
        ("retries", "Partitions or proofs tried again.", c.retries),
        ("panics", "Stages that panicked.", c.panics),
        ("circuit_evictions", "Circuits unloaded.", c.evictions),
    ];
    for (name, help, value) in counters {
        text.family(&format!("{name}_total"), "counter", help);
        text.sample(&format!("{name}_total"), &[], value);
    }
    text.family(
        "jobs_refused_total",
        "counter",
        "Submissions refused, by reason.",
    );
    text.sample(
        "jobs_refused_total",
        &[("reason", "input")],
        c.refused_input,
    );
    text.sample(
        "jobs_refused_total",
        &[("reason", "limit")],
        c.refused_limit,
    );
}

fn by_circuit(text: &mut Text, counters: &Counters) {
    type Field = fn(&CircuitTotals) -> u64;
    text.family(
        "jobs_ended_total",
        "counter",
        "Jobs that ended, by circuit and outcome.",
    );
    let outcomes: [(&str, Field); 3] = [
        ("completed", |t| t.completed),
        ("failed", |t| t.failed),
        ("cancelled", |t| t.cancelled),
    ];
    for (circuit, totals) in &counters.circuits {
        for (outcome, field) in outcomes {
            let labels = [("circuit", circuit.as_str()), ("outcome", outcome)];
            text.sample("jobs_ended_total", &labels, field(totals));
        }
    }
    let summaries: [(&str, &str, Field, Field); 4] = [
        (
            "job_seconds",
            "Acceptance to end of completed jobs.",
            |t| t.total_ms,
            |t| t.completed,
        ),
        (
            "job_queue_seconds",
            "Waiting of completed jobs.",
            |t| t.queue_ms,
            |t| t.completed,
        ),
        (
            "partition_witness_seconds",
            "Witness generation.",
            |t| t.witness_ms,
            |t| t.witnesses,
        ),
        (
            "partition_prove_seconds",
            "Proving on a device.",
            |t| t.prove_ms,
            |t| t.partitions,
        ),
    ];
    for (name, help, sum_ms, count) in summaries {
        text.family(name, "summary", help);
        for (circuit, totals) in &counters.circuits {
            let labels = [("circuit", circuit.as_str())];
            text.sample(&format!("{name}_sum"), &labels, seconds(sum_ms(totals)));
            text.sample(&format!("{name}_count"), &labels, count(totals));
        }
    }
}

fn gauges(text: &mut Text, status: &Status) {
    let single = [
        (
            "uptime_seconds",
            "Since the process started.",
            status.uptime_seconds,
        ),
        (
            "memory_budget_bytes",
            "The memory budget.",
            status.memory.total_bytes,
        ),
        (
            "memory_reserved_bytes",
            "Bytes of it that are reserved.",
            status.memory.reserved_bytes,
        ),
        (
            "queued_payload_bytes",
            "Payload of jobs that have not ended.",
            status.memory.queued_bytes,
        ),
        (
            "finished_jobs_kept",
            "Finished jobs whose results can be had.",
            status.finished_kept as u64,
        ),
    ];
    for (name, help, value) in single {
        text.family(name, "gauge", help);
        text.sample(name, &[], value);
    }
    text.family("jobs", "gauge", "Jobs that have not ended.");
    for queue in &status.queues {
        for (state, count) in [
            ("pending", queue.pending),
            ("in_progress", queue.in_progress),
        ] {
            text.sample(
                "jobs",
                &[("circuit", &queue.circuit), ("state", state)],
                count,
            );
        }
    }
    text.family(
        "circuit_loaded",
        "gauge",
        "1 when a circuit is loaded on a device.",
    );
    for circuit in &status.circuits {
        let loaded = u8::from(circuit.state == "loaded");
        text.sample("circuit_loaded", &[("circuit", &circuit.circuit)], loaded);
    }
    devices(text, status);
}

fn devices(text: &mut Text, status: &Status) {
    type Value = fn(&cuzk_engine::DeviceStatus) -> f64;
    let gauges: [(&str, &str, Value); 4] = [
        (
            "device_usable",
            "1 unless the device failed its self-test.",
            |d| f64::from(u8::from(d.state != "left out")),
        ),
        ("device_busy", "1 while the device proves.", |d| {
            f64::from(u8::from(d.state == "proving"))
        }),
        ("device_memory_bytes", "Memory of the device.", |d| {
            d.info.memory_total as f64
        }),
        (
            "device_memory_free_bytes",
            "Free memory of the device.",
            |d| d.info.memory_free as f64,
        ),
    ];
    let counters: [(&str, &str, Value); 3] = [
        (
            "device_partitions_proved_total",
            "Partitions that the device proved.",
            |d| d.work.proved as f64,
        ),
        (
            "device_partitions_failed_total",
            "Partitions that the device failed on.",
            |d| d.work.failed as f64,
        ),
        (
            "device_busy_seconds_total",
            "Time that the device worked on partitions.",
            |d| seconds(d.work.busy_ms),
        ),
    ];
    let gauges = gauges.into_iter().map(|gauge| ("gauge", gauge));
    let counters = counters.into_iter().map(|counter| ("counter", counter));
    for (kind, (name, help, value)) in gauges.chain(counters) {
        text.family(name, kind, help);
        for device in &status.devices {
            let ordinal = device.ordinal.to_string();
            let labels = [("ordinal", ordinal.as_str()), ("name", &device.info.name)];
            text.sample(name, &labels, value(device));
        }
    }
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(
            self.0,
            "# HELP cuzk_{name} {help}\n# TYPE cuzk_{name} {kind}"
        );
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.0, "cuzk_{name}");
        for (i, (label, content)) in labels.iter().enumerate() {
            let open = if i == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{open}{label}=\"{}\"", escape(content));
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{close} {value}");
    }
}

fn escape(content: &str) -> String {
    content
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_follow_the_format() {
        let mut text = Text::default();
        text.family("a", "gauge", "Help.");
        text.sample("a", &[("x", "say \"1\\2\""), ("y", "z")], 1.5);
        text.sample("a", &[], 2);
        let expected = "# HELP cuzk_a Help.\n# TYPE cuzk_a gauge\ncuzk_a{x=\"say \\\"1\\\\2\\\"\",y=\"z\"} 1.5\ncuzk_a 2\n";
        assert_eq!(text.0, expected);
    }
}
