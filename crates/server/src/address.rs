//! Where to listen.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `HOST:PORT`; port 0 lets the system choose.
    Tcp(String),
    /// `unix:///path`.
    Unix(PathBuf),
}

/// Not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found address {found:?}, expected HOST:PORT or unix:///path")]
pub struct AddressError {
    found: String,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = || AddressError { found: text.into() };
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path.starts_with('/') {
                true => Ok(Self::Unix(path.into())),
                false => Err(error()),
            };
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(error)?;
        let port: Result<u16, _> = port.parse();
        match (host.is_empty() || host.contains('/'), port) {
            (false, Ok(_)) => Ok(Self::Tcp(text.into())),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for text in [
            "127.0.0.1:9820",
            "[::1]:0",
            "localhost:1",
            "unix:///run/cuzk.sock",
        ] {
            let address: Address = text.parse().expect("is an address");
            assert_eq!(address.to_string(), text);
        }
        assert_eq!("unix:/run/a".parse(), Ok(Address::Unix("/run/a".into())));
        let wrong = [
            "",
            "9820",
            ":9820",
            "host:",
            "host:99999",
            "http://a:1",
            "unix://relative",
        ];
        for text in wrong {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
