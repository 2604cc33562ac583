//! Binding. A socket file that a dead process left is taken over; one that a live process answers on is not.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener, UnixStream};

use crate::Address;

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another process listens there.
    #[error("{address} is in use by another process")]
    InUse {
        /// The address.
        address: Address,
    },
    /// A file is in the way.
    #[error("{} exists and is not a socket", path.display())]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The system's error.
    #[error("cannot listen at {address}: {source}")]
    Io {
        /// The address.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
}

/// A bound address.
#[derive(Debug)]
pub struct Listener {
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

/// A socket file of ours, removed when it is no longer needed, unless another process has put its own there.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Listener {
    /// Binds an address.
    pub async fn bind(address: &Address) -> Result<Self, ListenError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse {
                address: address.clone(),
            },
            _ => ListenError::Io {
                address: address.clone(),
                source,
            },
        };
        let kind = match address {
            Address::Tcp(text) => {
                let listener = TcpListener::bind(text.as_str()).await.map_err(failed)?;
                Kind::Tcp(listener)
            }
            Address::Unix(path) => {
                reclaim(path, address).await?;
                let listener = UnixListener::bind(path).map_err(failed)?;
                let inode = std::fs::symlink_metadata(path).map_err(failed)?.ino();
                let path = path.clone();
                Kind::Unix(listener, SocketFile { path, inode })
            }
        };
        Ok(Self { kind })
    }

    /// The address, with the port that the system chose.
    pub fn local_address(&self) -> String {
        match &self.kind {
            Kind::Tcp(listener) => listener
                .local_addr()
                .map_or_else(|_| "unknown".into(), |a| a.to_string()),
            Kind::Unix(_, file) => Address::Unix(file.path.clone()).to_string(),
        }
    }

    /// The TCP listener inside, for HTTP.
    pub fn into_tcp(self) -> Option<TcpListener> {
        match self.kind {
            Kind::Tcp(listener) => Some(listener),
            Kind::Unix(..) => None,
        }
    }
}

async fn reclaim(path: &Path, address: &Address) -> Result<(), ListenError> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(ListenError::NotASocket { path: path.into() });
    }
    match UnixStream::connect(path).await {
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
            tracing::info!(path = %path.display(), "a socket that a dead process left is taken over");
            std::fs::remove_file(path).map_err(|source| ListenError::Io {
                address: address.clone(),
                source,
            })
        }
        // Anything else may be a live process, a full backlog among them.
        _ => Err(ListenError::InUse {
            address: address.clone(),
        }),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = |m: std::fs::Metadata| m.ino() == self.inode;
        if std::fs::symlink_metadata(&self.path).is_ok_and(ours) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
