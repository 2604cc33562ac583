//! The keys a configuration file may have, and what each of them does here.

/// What a known key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It steers something.
    Used,
    /// Files of earlier versions have it, but nothing is left for it to steer; the text says what takes its place.
    Replaced(&'static str),
}

use Role::{Replaced, Used};

/// Section, key, role. Errors, warnings and suggestions all come from this table.
pub(super) const KEYS: &[(&str, &str, Role)] = &[
    ("daemon", "listen", Used),
    ("daemon", "status_listen", Used),
    ("daemon", "state_dir", Used),
    ("daemon", "drain_timeout", Used),
    ("srs", "param_cache", Used),
    ("srs", "preload", Used),
    ("memory", "total_budget", Used),
    ("memory", "safety_margin", Used),
    ("memory", "eviction_min_idle", Used),
    (
        "memory",
        "pinned_budget",
        Replaced("host buffers are counted in memory.total_budget"),
    ),
    (
        "memory",
        "working_memory_budget",
        Replaced("working memory is counted in memory.total_budget"),
    ),
    ("gpus", "devices", Used),
    ("gpus", "memory", Used),
    (
        "gpus",
        "gpu_threads",
        Replaced("a device proof has no CPU part; see synthesis.threads"),
    ),
    (
        "gpus",
        "gpu_workers_per_device",
        Replaced("each device has one worker and is kept busy by it"),
    ),
    (
        "scheduler",
        "max_batch_size",
        Replaced("partitions are scheduled one by one, by priority and age"),
    ),
    (
        "scheduler",
        "max_batch_wait_ms",
        Replaced("no partition waits for others to form a batch"),
    ),
    (
        "scheduler",
        "sort_by_type",
        Replaced("partitions are ordered by priority and age"),
    ),
    ("synthesis", "threads", Used),
    (
        "synthesis",
        "partition_workers",
        Replaced("see synthesis.threads and pipeline.synthesis_lookahead"),
    ),
    (
        "pipeline",
        "enabled",
        Replaced("witness generation and proving always overlap"),
    ),
    ("pipeline", "synthesis_lookahead", Used),
    (
        "pipeline",
        "synthesis_concurrency",
        Replaced("see limits.running_jobs"),
    ),
    ("limits", "jobs", Used),
    ("limits", "queued_bytes", Used),
    ("limits", "arriving_bytes", Used),
    ("limits", "queue_wait", Used),
    ("limits", "running_jobs", Used),
    ("limits", "finished_jobs", Used),
    ("limits", "finished_age", Used),
    ("logging", "level", Used),
    ("logging", "format", Used),
];

/// The role of a key, or none when there is no such key.
pub(super) fn role(section: &str, key: &str) -> Option<Role> {
    let known = KEYS.iter().find(|k| k.0 == section && k.1 == key);
    known.map(|k| k.2)
}

/// Whether there is a section of that name.
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|k| k.0 == name)
}

/// The known `section.key` that is most like an unknown one. A key that stands in the wrong section is most like itself.
pub(super) fn nearest_key(section: &str, key: &str) -> String {
    let wanted = format!("{section}.{key}");
    let likeness = |k: &&(&str, &str, Role)| {
        let same_key = f64::from(u8::from(k.1 == key));
        same_key + strsim::jaro_winkler(&wanted, &format!("{}.{}", k.0, k.1))
    };
    best(KEYS.iter(), likeness, |k| format!("{}.{}", k.0, k.1))
}

/// The known section that is most like an unknown one.
pub(super) fn nearest_section(name: &str) -> String {
    let likeness = |k: &&(&str, &str, Role)| strsim::jaro_winkler(name, k.0);
    best(KEYS.iter(), likeness, |k| format!("[{}]", k.0))
}

fn best<T>(
    candidates: impl Iterator<Item = T>,
    likeness: impl Fn(&T) -> f64,
    name: impl Fn(&T) -> String,
) -> String {
    let best = candidates.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.map(|b| name(&b)).unwrap_or_default()
}
