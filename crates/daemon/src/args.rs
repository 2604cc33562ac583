//! The command line.

use std::path::PathBuf;

/// Filecoin proving service.
#[derive(clap::Parser, Debug, Clone, Default)]
#[command(name = "cuzk-daemon", version)]
pub struct Args {
    /// Configuration file (TOML); without one, the defaults hold
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// gRPC address: HOST:PORT or unix:///path [default: 127.0.0.1:9820]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// HTTP address for /status, /metrics, /healthz and /readyz: HOST:PORT, or "off" [default: off]
    #[arg(long, value_name = "ADDR")]
    pub status_listen: Option<String>,
    /// error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// Directory of the parameter files
    #[arg(long, value_name = "DIR")]
    pub param_cache: Option<PathBuf>,
    /// Directory of the journal and the compiled circuits
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Once the service accepts requests, write its process id and addresses into this file as one line of JSON
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}
