use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cuzk_proto::v1::PreloadSrsRequest;
use tonic::Status;

use crate::fixture::{client, parameters, start_daemon};

/// A parameter folder with links to the good files.
struct Folder {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
        let path = folder.path().join("parameters");
        fs::create_dir(&path).expect("created");
        for entry in fs::read_dir(parameters()).expect("listed") {
            let entry = entry.expect("listed");
            symlink(entry.path(), path.join(entry.file_name())).expect("linked");
        }
        Self {
            _folder: folder,
            path,
        }
    }

    /// The file of the PoRep circuit with this ending.
    fn file(&self, ending: &str) -> PathBuf {
        let is_porep = |path: &PathBuf| {
            name(path).contains("proof-of-replication")
                && path.extension().is_some_and(|e| e == ending)
        };
        let entries = fs::read_dir(&self.path).expect("listed");
        let mut paths = entries.map(|entry| entry.expect("listed").path());
        paths.find(is_porep).expect("such a file")
    }

    /// Replaces the link by a copy of the first `bytes` bytes.
    fn copy_start(&self, file: &Path, bytes: u64) {
        let mut start = File::open(file).expect("opened").take(bytes);
        fs::remove_file(file).expect("unlinked");
        std::io::copy(&mut start, &mut File::create(file).expect("created")).expect("copied");
    }

    /// Why a daemon with this folder does not load the circuit.
    async fn refusal(&self) -> Status {
        let state = tempfile::tempdir().expect("a temporary folder");
        let mut daemon = start_daemon(&self.path, state.path());
        let mut client = client(&daemon.addr()).await;
        let request = PreloadSrsRequest {
            circuit_id: "porep-2k".to_owned(),
        };
        let status = client
            .preload_srs(request)
            .await
            .expect_err("bad parameters are not loaded");
        assert!(daemon.is_running(), "{}", daemon.log_end());
        status
    }
}

fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .expect("a printable name")
}

fn flip_byte(file: &Path, position: u64) {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(file)
        .expect("opened");
    let mut byte = [0];
    file.seek(SeekFrom::Start(position)).expect("sought");
    file.read_exact(&mut byte).expect("read");
    file.seek(SeekFrom::Start(position)).expect("sought");
    file.write_all(&[byte[0] ^ 1]).expect("written");
}

#[tokio::test]
async fn a_missing_file_is_named_with_the_way_to_get_it() {
    let folder = Folder::new();
    let params = folder.file("params");
    fs::remove_file(&params).expect("unlinked");
    let status = folder.refusal().await;
    assert!(status.message().contains(name(&params)), "{status}");
    assert!(status.message().contains("setup"), "{status}");
}

#[tokio::test]
async fn a_truncated_file_is_named() {
    let folder = Folder::new();
    let params = folder.file("params");
    folder.copy_start(&params, 10 << 20);
    let status = folder.refusal().await;
    assert!(status.message().contains(name(&params)), "{status}");
}

#[tokio::test]
async fn a_flipped_byte_in_the_verifying_key_is_found() {
    let folder = Folder::new();
    let vk = folder.file("vk");
    folder.copy_start(&vk, u64::MAX);
    flip_byte(&vk, 700);
    let status = folder.refusal().await;
    assert!(status.message().contains(name(&vk)), "{status}");
}

#[tokio::test]
async fn a_flipped_byte_in_the_parameters_is_found() {
    let folder = Folder::new();
    let params = folder.file("params");
    let length = params.metadata().expect("a file").len();
    folder.copy_start(&params, u64::MAX);
    flip_byte(&params, length / 2);
    let status = folder.refusal().await;
    assert!(status.message().contains(name(&params)), "{status}");
}
