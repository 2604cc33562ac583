//! Log lines go to stderr; stdout is for the ready line alone.

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};
use crate::serve::Error;

pub(crate) fn start(config: &Config) -> Result<(), Error> {
    let filter = EnvFilter::try_new(&config.log_level)
        .map_err(|e| Error::Logging(format!("{}: {e}", config.log_level)))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match config.log_format {
        LogFormat::Json => builder.json().try_init(),
        LogFormat::Text => builder.with_target(false).try_init(),
    };
    started.map_err(|e| Error::Logging(e.to_string()))
}
