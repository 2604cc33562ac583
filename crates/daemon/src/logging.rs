//! Log lines go to stderr; stdout is for the ready line alone.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};
use crate::serve::Error;

/// Libraries that say at level info what only their developers want to know.
const TALKATIVE: &str = "filecoin_proofs=warn,storage_proofs_core=warn,storage_proofs_porep=warn,storage_proofs_post=warn,storage_proofs_update=warn";

pub(crate) fn start(config: &Config) -> Result<(), Error> {
    let filter = directives(&config.log_level);
    let filter =
        EnvFilter::try_new(&filter).map_err(|e| Error::Logging(format!("{filter}: {e}")))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match config.log_format {
        LogFormat::Json => builder.json().try_init(),
        LogFormat::Text => builder.with_target(false).try_init(),
    };
    started.map_err(|e| Error::Logging(e.to_string()))
}

/// A bare level is about this program; a filter is taken as it is.
fn directives(level: &str) -> String {
    match level {
        "info" => format!("{level},{TALKATIVE}"),
        other => other.into(),
    }
}
