//! From a configuration to a service, and from a signal to its end.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuzk_engine::{Device, Engine, Filecoin, Limits, Settings, StartError, Store, memory};
use cuzk_server::{Address, ListenError, Listener, Phases, serve_grpc, serve_http};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::{Budget, Config, ConfigError, Listen};
use crate::devices::{self, DevicesError, OpenDevices};
use crate::ready;

/// How long calls that are being answered may take after the last job has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Why the daemon does not serve.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The configuration's.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The log filter or its start.
    #[error("logging: {0}")]
    Logging(String),
    /// No async runtime.
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    /// The engine's.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An address cannot be used.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A device's.
    #[error(transparent)]
    Devices(#[from] DevicesError),
    /// The budget leaves nothing.
    #[error(
        "memory.total_budget: found {total} bytes with a safety margin of {margin}, expected more than the margin"
    )]
    NoMemory { total: u64, margin: u64 },
    /// Memory cannot be found out.
    #[error("memory.total_budget: cannot find out how much memory there is, expected a size")]
    UnknownMemory,
    /// The ready file, or signals.
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    /// The gRPC server ended by itself.
    #[error("the gRPC server ended: {0}")]
    Grpc(String),
}

/// Serves until a signal, then drains.
pub(crate) async fn serve(config: &Config, ready_file: Option<&Path>) -> Result<(), Error> {
    let mut signals = Signals::new()?;
    // Bound before the engine starts: a second daemon is told at once that its place is taken.
    let grpc = Listener::bind(&address(&config.listen)).await?;
    let http = match config.status_listen {
        Some(at) => Some(Listener::bind(&Address::Tcp(at.to_string())).await?),
        None => None,
    };
    let OpenDevices { devices, locks } = devices::open(&config.devices, &config.device_memory)?;
    let engine = start_engine(config, devices)?;
    let (draining, draining_seen) = watch::channel(false);
    let (closed, closed_seen) = watch::channel(false);
    let phases = Phases {
        draining: draining_seen,
        closed: closed_seen,
    };
    let grpc_address = grpc.local_address();
    let http_address = http.as_ref().map(Listener::local_address);
    if let Some(listener) = http.and_then(Listener::into_tcp) {
        tokio::spawn(serve_http(engine.clone(), listener, phases.clone()));
    }
    let arriving = config.arriving_bytes(memory_budget(config)?);
    let mut server = tokio::spawn(serve_grpc(engine.clone(), grpc, phases, arriving));
    let _ready = ready::announce(&grpc_address, http_address.as_deref(), ready_file)
        .map_err(|source| io_error("--ready-file", source))?;
    tracing::info!(grpc = %grpc_address, http = http_address.as_deref().unwrap_or("off"), "serving");
    preload(config, &engine);

    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "ending: running jobs are finished, waiting ones are kept"),
        ended = &mut server => return Err(Error::Grpc(format!("{ended:?}"))),
    }
    let _ = draining.send(true);
    drain(config, &engine, &mut signals).await;
    engine.close();
    let _ = closed.send(true);
    last_answers(server).await;
    drop(locks);
    tracing::info!("ended");
    Ok(())
}

/// A second signal ends the wait.
async fn drain(config: &Config, engine: &Engine<Filecoin>, signals: &mut Signals) {
    tokio::select! {
        finished = engine.drain(config.drain_timeout) => if !finished {
            let seconds = config.drain_timeout.as_secs();
            tracing::warn!(seconds, "running jobs did not end within daemon.drain_timeout; they go on after the restart");
        },
        name = signals.next() => tracing::warn!(signal = name, "a second signal: running jobs go on after the restart"),
    }
}

async fn last_answers<T>(server: JoinHandle<T>) {
    if tokio::time::timeout(LAST_ANSWERS, server).await.is_err() {
        tracing::warn!("some clients did not hang up");
    }
}

fn start_engine(config: &Config, devices: Vec<Arc<dyn Device>>) -> Result<Engine<Filecoin>, Error> {
    let store = Store::new(&config.param_cache, config.state_dir.join("circuits"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu_threads = config.threads.unwrap_or(cores).min(cores);
    let limits = Limits {
        decoders: cores,
        ..config.limits(devices.len())
    };
    let settings = Settings {
        limits,
        memory_bytes: memory_budget(config)?,
        eviction_min_idle: config.eviction_min_idle,
        cpu_threads,
        journal_dir: config.state_dir.join("journal"),
    };
    tracing::info!(
        memory_bytes = settings.memory_bytes,
        cpu_threads,
        running_jobs = settings.limits.running_jobs,
        lookahead = settings.limits.lookahead,
        parameters = %config.param_cache.display(),
        state = %config.state_dir.display(),
        "starting"
    );
    let engine = Engine::start(Filecoin::new(store, devices), settings)?;
    for device in engine.status().devices {
        tracing::info!(ordinal = device.ordinal, name = %device.info.name, state = device.state, "device");
    }
    Ok(engine)
}

fn memory_budget(config: &Config) -> Result<u64, Error> {
    let total = match config.total_budget {
        Budget::Bytes(bytes) => bytes,
        Budget::Auto => memory::available_to_process().ok_or(Error::UnknownMemory)?,
    };
    let margin = config.safety_margin;
    total
        .checked_sub(margin)
        .filter(|&left| left > 0)
        .ok_or(Error::NoMemory { total, margin })
}

/// Loads the circuits that the configuration names, one after the other, while the service serves. Until all are there, `/readyz`
/// says which are not, and why.
fn preload(config: &Config, engine: &Engine<Filecoin>) {
    let (circuits, engine) = (config.preload.clone(), engine.clone());
    circuits.iter().for_each(|circuit| engine.pin(*circuit));
    tokio::spawn(async move {
        for circuit in circuits {
            match engine.preload(circuit).await {
                Ok(loaded) => {
                    tracing::info!(%circuit, ms = loaded.load_ms, "preloaded and pinned");
                }
                Err(error) => {
                    tracing::error!(%circuit, %error, "a circuit of srs.preload cannot be loaded; the service is not ready, and serves the others");
                }
            }
        }
    });
}

fn address(listen: &Listen) -> Address {
    match listen {
        Listen::Tcp(address) => Address::Tcp(address.clone()),
        Listen::Unix(path) => Address::Unix(path.clone()),
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|source| io_error("signals", source));
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

fn io_error(what: &str, source: io::Error) -> Error {
    let what = what.into();
    Error::Io { what, source }
}
