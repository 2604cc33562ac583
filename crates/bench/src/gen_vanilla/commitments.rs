//! Commitments named on the command line: hex, a CID, or a file in which `d:` and `r:` stand before CIDs.
//!
//! Sealing tools leave such a file, `commdr.txt`, beside a sector.

use std::path::Path;

use cuzk_filecoin::{CommitmentError, comm_d_cid, comm_r_cid, parse_comm_d, parse_comm_r};

use crate::error::Error;
use crate::files;

/// Name of the file.
pub(super) const FILE_NAME: &str = "commdr.txt";

type Parse = fn(&str) -> Result<[u8; 32], CommitmentError>;

pub(super) fn comm_d(option: &str, text: Option<&str>) -> Result<[u8; 32], Error> {
    read(option, text, "d:", parse_comm_d)
}

pub(super) fn comm_r(option: &str, text: Option<&str>) -> Result<[u8; 32], Error> {
    read(option, text, "r:", parse_comm_r)
}

/// What stands in the file of a sector.
pub(super) fn file_content(comm_d: &[u8; 32], comm_r: &[u8; 32]) -> String {
    format!("d:{} r:{}\n", comm_d_cid(comm_d), comm_r_cid(comm_r))
}

fn read(option: &str, text: Option<&str>, tag: &str, parse: Parse) -> Result<[u8; 32], Error> {
    let text = text.ok_or_else(|| Error::input(option, "nothing", "a commitment"))?;
    let path = Path::new(text);
    if path.is_file() {
        let content = String::from_utf8_lossy(&files::read_input(option, path)?).into_owned();
        let field = format!("{option} {text}");
        let tagged = content.split_whitespace().find_map(|w| w.strip_prefix(tag));
        let cid =
            tagged.ok_or_else(|| Error::input(&field, format!("no {tag}CID"), "`d:CID r:CID`"))?;
        return parse(cid).map_err(|cause| Error::input(field, cause.found, cause.expected));
    }
    parse(text).map_err(|cause| Error::input(option, cause.found, cause.expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_cids_and_files_give_the_same() {
        let (d, r) = ([7; 32], [9; 32]);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join(FILE_NAME);
        std::fs::write(&file, file_content(&d, &r)).expect("written");
        let file = file.to_str().expect("a printable path");
        for text in [hex::encode(r), comm_r_cid(&r), file.to_owned()] {
            assert_eq!(comm_r("--comm-r", Some(&text)).ok(), Some(r), "{text}");
        }
        assert_eq!(comm_d("--comm-d", Some(file)).ok(), Some(d));
        for bad in [None, Some("x"), Some(comm_d_cid(&d).as_str())] {
            let error = comm_r("--comm-r", bad).expect_err("refused").to_string();
            assert!(error.starts_with("--comm-r: found "), "{error}");
            assert_eq!(error.matches("found").count(), 1, "{error}");
        }
    }
}
