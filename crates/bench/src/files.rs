//! Reading and writing the files named on the command line.

use std::io::Write;
use std::path::Path;

use crate::error::Error;

/// Reads a file that an option names; a file that is missing or empty is bad input of that option.
pub(crate) fn read_input(option: &str, path: &Path) -> Result<Vec<u8>, Error> {
    let field = || format!("{option} {}", path.display());
    let bytes = std::fs::read(path)
        .map_err(|cause| Error::input(field(), cause.to_string(), "a readable file"))?;
    if bytes.is_empty() {
        return Err(Error::input(field(), "no bytes", "a vanilla proof"));
    }
    Ok(bytes)
}

/// Writes a whole file or none of it: into a temporary beside it, then renamed. Makes the folder, and says so, for what is
/// to be written took long to make.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        if !folder.exists() {
            std::fs::create_dir_all(folder)?;
            eprintln!("made the folder {}", folder.display());
        }
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|failure| failure.error)?;
        Ok(())
    };
    write().map_err(|source| Error::file(path, source))
}
