//! Telling scripts where the service listens: a line on stdout, and a file if wished.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Exists while the service accepts requests.
#[derive(Debug)]
pub(crate) struct ReadyFile {
    path: Option<PathBuf>,
}

/// Announces the addresses. The file appears complete or not at all.
pub(crate) fn announce(
    grpc: &str,
    http: Option<&str>,
    path: Option<&Path>,
) -> io::Result<ReadyFile> {
    let mut stdout = io::stdout().lock();
    let http_text = http.unwrap_or("off");
    // Nobody may be reading any more; that is no reason to stop.
    let _ = writeln!(stdout, "ready grpc={grpc} http={http_text}").and_then(|()| stdout.flush());
    if let Some(path) = path {
        let line = serde_json::json!({ "pid": std::process::id(), "grpc": grpc, "http": http });
        let dir = path.parent().filter(|p| !p.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(dir.unwrap_or(Path::new(".")))?;
        writeln!(file, "{line}")?;
        file.persist(path).map_err(|e| e.error)?;
    }
    Ok(ReadyFile {
        path: path.map(Into::into),
    })
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}
