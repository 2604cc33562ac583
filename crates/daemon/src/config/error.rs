//! What can be wrong with a configuration.

use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read configuration file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("configuration is not valid TOML: {0}")]
    Syntax(#[from] toml::de::Error),
    /// There is no such section, or a key stands outside all sections.
    #[error(
        "unknown section or key {found:?} at the top level of the configuration, nearest known: {nearest}"
    )]
    UnknownSection {
        /// Its name.
        found: String,
        /// The section most like it.
        nearest: String,
    },
    /// There is no such key.
    #[error("unknown configuration key {found:?}, nearest known: {nearest:?}")]
    UnknownKey {
        /// `section.key`.
        found: String,
        /// The key most like it.
        nearest: String,
    },
    /// A value cannot be used.
    #[error("{key}: found {found}, expected {expected}")]
    Value {
        /// `section.key`, or the command-line option.
        key: String,
        /// The value found.
        found: String,
        /// What would do.
        expected: String,
    },
}
