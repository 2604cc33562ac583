//! The configuration: a TOML file, overridden by the command line, checked as a whole before anything starts.
//!
//! Files written for earlier daemons of this protocol start this one. A key that has nothing left to steer is
//! accepted with one warning that says what takes its place; an unknown key is an error that names the nearest known one.

mod error;
mod keys;
mod units;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuzk_engine::Limits;
use cuzk_filecoin::CircuitId;
use toml::{Table, Value};

pub(crate) use error::ConfigError;

use crate::Args;
use keys::Role;
use units::{Bytes, FromValue};

/// Where upstream's tools keep parameter files.
const DEFAULT_PARAM_CACHE: &str = "/var/tmp/filecoin-proof-parameters";
const PARAM_CACHE_VARIABLE: &str = "FIL_PROOFS_PARAMETER_CACHE";
/// Of the memory budget, for requests on their way in.
const ARRIVING_SHARE: u64 = 8;
const LARGEST_MESSAGE: u64 = cuzk_server::MAX_MESSAGE_BYTES as u64;
const DEFAULT_LISTEN: &str = "127.0.0.1:9820";

/// A configuration that has been checked.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// Where the gRPC service listens.
    pub(crate) listen: Listen,
    /// Where the HTTP side listens; none: nowhere.
    pub(crate) status_listen: Option<SocketAddr>,
    /// Journal and compiled circuits.
    pub(crate) state_dir: PathBuf,
    /// How long running jobs may go on after a signal to end.
    pub(crate) drain_timeout: Duration,
    /// The parameter files.
    pub(crate) param_cache: PathBuf,
    /// Circuits to load at start.
    pub(crate) preload: Vec<CircuitId>,
    /// Memory that circuits and jobs may use together, before the safety margin is taken off.
    pub(crate) total_budget: Budget,
    /// Bytes of the budget that stay free.
    pub(crate) safety_margin: u64,
    /// A circuit that nobody used for so long may make room for another.
    pub(crate) eviction_min_idle: Duration,
    /// Devices to prove on.
    pub(crate) devices: Devices,
    /// Memory of them that may be used.
    pub(crate) device_memory: DeviceMemory,
    /// Threads for CPU work; none: one a core.
    pub(crate) threads: Option<usize>,
    /// The engine's limits, but for what follows the devices.
    limits: Limits,
    /// Jobs that run at the same time; none: as many as the devices call for.
    running_jobs: Option<usize>,
    /// Bytes of requests that are still on their way in; none: by the memory budget.
    arriving_bytes: Option<u64>,
    /// Witnesses that are made ahead; none: as many as the devices call for.
    lookahead: Option<usize>,
    /// `error`, `warn`, `info`, `debug` or `trace`, or a filter in tracing's syntax.
    pub(crate) log_level: String,
    /// How log lines look.
    pub(crate) log_format: LogFormat,
    /// One line a key that steers nothing.
    pub(crate) warnings: Vec<String>,
}

/// A gRPC address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// `HOST:PORT`; the host may be a name.
    Tcp(String),
    /// `unix:///path`.
    Unix(PathBuf),
}

/// How much memory may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// What the machine or the control group has.
    Auto,
    /// So many bytes.
    Bytes(u64),
}

/// Which devices prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    /// All that there are.
    All,
    /// These ordinals.
    Only(Vec<u32>),
}

/// How much of a device's memory may be used, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceMemory {
    /// All of it.
    Whole,
    /// So much of every device's.
    Each(u64),
    /// By the devices' order in the configuration.
    Listed(Vec<u64>),
}

impl DeviceMemory {
    /// The cap on the memory of the device at that place; none: all may be used.
    pub(crate) fn cap(&self, place: usize) -> Option<u64> {
        match self {
            Self::Whole => None,
            Self::Each(bytes) => Some(*bytes),
            Self::Listed(list) => list.get(place).copied(),
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Listen {
    /// None when the text is no address.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return path.starts_with('/').then(|| Self::Unix(path.into()));
        }
        let address = text.strip_prefix("http://").unwrap_or(text);
        let (host, port) = address.rsplit_once(':')?;
        let valid = !host.is_empty() && port.parse::<u16>().is_ok();
        valid.then(|| Self::Tcp(address.into()))
    }
}

impl Config {
    /// Reads the file that the command line names, if it names one, and applies the command line. `variable` looks up an
    /// environment variable.
    pub(crate) fn load(
        args: &Args,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let text = match &args.config {
            None => String::new(),
            Some(path) => std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
                path: path.clone(),
                source,
            })?,
        };
        Self::parse(&text, args, variable)
    }

    fn parse(
        text: &str,
        args: &Args,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let file = File::parse(text)?;
        let mut config = file.config(&variable)?;
        config.apply(args)?;
        Ok(config)
    }

    /// The engine's limits with so many devices. What the file states holds; only what it leaves open follows the devices.
    pub(crate) fn limits(&self, devices: usize) -> Limits {
        let default = Limits::for_devices(devices);
        Limits {
            running_jobs: self.running_jobs.unwrap_or(default.running_jobs),
            lookahead: self.lookahead.unwrap_or(default.lookahead),
            ..self.limits.clone()
        }
    }

    /// Bytes of requests that may be on their way in, with this memory budget.
    pub(crate) fn arriving_bytes(&self, memory: u64) -> u64 {
        let share = (memory / ARRIVING_SHARE).max(LARGEST_MESSAGE);
        self.arriving_bytes.unwrap_or(share)
    }

    fn apply(&mut self, args: &Args) -> Result<(), ConfigError> {
        if let Some(listen) = &args.listen {
            self.listen = option("--listen", listen)?;
        }
        if let Some(listen) = &args.status_listen {
            self.status_listen = status_address("--status-listen", listen)?;
        }
        if let Some(level) = &args.log_level {
            self.log_level = log_level("--log-level", level)?;
        }
        override_path(&mut self.param_cache, args.param_cache.as_deref());
        override_path(&mut self.state_dir, args.state_dir.as_deref());
        Ok(())
    }
}

/// A file whose keys are known, whose values have not been looked at.
struct File {
    sections: Table,
    warnings: Vec<String>,
}

impl File {
    fn parse(text: &str) -> Result<Self, ConfigError> {
        let sections: Table = text.parse()?;
        let mut warnings = Vec::new();
        for (section, keys) in &sections {
            let Some(keys) = keys.as_table().filter(|_| keys::is_section(section)) else {
                return Err(ConfigError::UnknownSection {
                    found: section.clone(),
                    nearest: keys::nearest_section(section),
                });
            };
            for key in keys.keys() {
                match keys::role(section, key) {
                    Some(Role::Used) => {}
                    Some(Role::Replaced(by)) => {
                        warnings.push(format!("{section}.{key} steers nothing: {by}"));
                    }
                    None => {
                        return Err(ConfigError::UnknownKey {
                            found: format!("{section}.{key}"),
                            nearest: keys::nearest_key(section, key),
                        });
                    }
                }
            }
        }
        Ok(Self { sections, warnings })
    }

    /// The value of a key; none when the file does not have it.
    fn get<T: FromValue>(&self, section: &str, key: &str) -> Result<Option<T>, ConfigError> {
        debug_assert_eq!(keys::role(section, key), Some(Role::Used));
        let Some(value) = self.sections.get(section).and_then(|keys| keys.get(key)) else {
            return Ok(None);
        };
        let value = T::from_value(value).ok_or_else(|| {
            let key = format!("{section}.{key}");
            invalid(&key, &value.to_string(), T::EXPECTED)
        })?;
        Ok(Some(value))
    }

    fn get_or<T: FromValue>(&self, section: &str, key: &str, default: T) -> Result<T, ConfigError> {
        Ok(self.get(section, key)?.unwrap_or(default))
    }

    /// A number that must not be zero; none when the file does not have it.
    fn at_least_one(&self, section: &str, key: &str) -> Result<Option<usize>, ConfigError> {
        match self.get(section, key)? {
            Some(0) => Err(invalid(&format!("{section}.{key}"), "0", "1 or more")),
            found => Ok(found),
        }
    }

    fn config(self, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Config, ConfigError> {
        let listen = Listen::Tcp(DEFAULT_LISTEN.into());
        let status_listen = self.get_or("daemon", "status_listen", String::new())?;
        let threads = self.get_or("synthesis", "threads", 0)?;
        let level = self.get_or("logging", "level", "info".to_owned())?;
        Ok(Config {
            listen: self.get_or("daemon", "listen", listen)?,
            status_listen: status_address("daemon.status_listen", &status_listen)?,
            state_dir: self.get_or("daemon", "state_dir", default_state_dir(variable))?,
            drain_timeout: self.get_or("daemon", "drain_timeout", Duration::from_secs(300))?,
            param_cache: self.get_or("srs", "param_cache", default_param_cache(variable))?,
            preload: self.get_or("srs", "preload", Vec::new())?,
            total_budget: self.get_or("memory", "total_budget", Budget::Auto)?,
            safety_margin: self.get_or("memory", "safety_margin", Bytes(1 << 30))?.0,
            eviction_min_idle: self.get_or(
                "memory",
                "eviction_min_idle",
                Duration::from_secs(300),
            )?,
            devices: self.get_or("gpus", "devices", Devices::All)?,
            device_memory: self.get_or("gpus", "memory", DeviceMemory::Whole)?,
            threads: (threads != 0).then_some(threads),
            limits: self.limits()?,
            running_jobs: self.at_least_one("limits", "running_jobs")?,
            lookahead: self.at_least_one("pipeline", "synthesis_lookahead")?,
            arriving_bytes: self.arriving_bytes()?,
            log_level: log_level("logging.level", &level)?,
            log_format: self.get_or("logging", "format", LogFormat::Text)?,
            warnings: self.warnings,
        })
    }

    fn arriving_bytes(&self) -> Result<Option<u64>, ConfigError> {
        let found: Option<Bytes> = self.get("limits", "arriving_bytes")?;
        match found {
            Some(Bytes(bytes)) if bytes < LARGEST_MESSAGE => {
                let expected =
                    format!("{LARGEST_MESSAGE} or more, the size of the largest request");
                Err(invalid(
                    "limits.arriving_bytes",
                    &bytes.to_string(),
                    &expected,
                ))
            }
            found => Ok(found.map(|bytes| bytes.0)),
        }
    }

    fn limits(&self) -> Result<Limits, ConfigError> {
        let default = Limits::default();
        let count = |key: &str| self.at_least_one("limits", key);
        Ok(Limits {
            jobs: count("jobs")?.unwrap_or(default.jobs),
            queued_bytes: self
                .get_or("limits", "queued_bytes", Bytes(default.queued_bytes))?
                .0,
            queue_wait: self.get_or("limits", "queue_wait", default.queue_wait)?,
            finished_jobs: count("finished_jobs")?.unwrap_or(default.finished_jobs),
            finished_age: self.get_or("limits", "finished_age", default.finished_age)?,
            ..default
        })
    }
}

fn invalid(key: &str, found: &str, expected: &str) -> ConfigError {
    ConfigError::Value {
        key: key.into(),
        found: found.into(),
        expected: expected.into(),
    }
}

/// A value given on the command line.
fn option<T: FromValue>(name: &str, text: &str) -> Result<T, ConfigError> {
    let value = T::from_value(&Value::from(text));
    value.ok_or_else(|| invalid(name, &format!("{text:?}"), T::EXPECTED))
}

fn status_address(key: &str, text: &str) -> Result<Option<SocketAddr>, ConfigError> {
    if text.is_empty() || text == "off" {
        return Ok(None);
    }
    let address = text.parse().map_err(|_| {
        let expected = "IP:PORT, or \"off\"";
        invalid(key, &format!("{text:?}"), expected)
    })?;
    Ok(Some(address))
}

/// A level, or a filter such as `info,cuzk_engine=debug`. A bare word that is no level would be taken for a target and silence the rest.
fn log_level(key: &str, text: &str) -> Result<String, ConfigError> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_valid = |directive: &str| {
        let level = directive.rsplit('=').next().unwrap_or(directive);
        LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level))
    };
    match text.split(',').all(is_valid) {
        true => Ok(text.into()),
        false => Err(invalid(
            key,
            &format!("{text:?}"),
            "error, warn, info, debug or trace",
        )),
    }
}

fn override_path(path: &mut PathBuf, by: Option<&Path>) {
    if let Some(by) = by {
        *path = by.into();
    }
}

fn default_param_cache(variable: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    let set = variable(PARAM_CACHE_VARIABLE).filter(|value| !value.is_empty());
    set.map_or(DEFAULT_PARAM_CACHE.into(), Into::into)
}

/// `$XDG_STATE_HOME/cuzk`, `~/.local/state/cuzk`, or `/var/lib/cuzk` for a process without a home.
fn default_state_dir(variable: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    let set = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    set("XDG_STATE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(|| "/var/lib".into())
        .join("cuzk")
}
