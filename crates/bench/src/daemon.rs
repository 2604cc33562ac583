//! A daemon as a child process.
//!
//! The child is this same executable with the hidden command `daemon`, so that it is always built and never of another
//! version. It holds the reading end of a pipe as its standard input and stops when the writing end is gone: however
//! its parent ends, it is not left behind.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use serde::Deserialize;

use crate::error::Error;

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

/// A running daemon; stopped when dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    stdin: Option<ChildStdin>,
    log: PathBuf,
    ready: Ready,
    _folder: tempfile::TempDir,
}

/// What the daemon writes once it accepts requests.
#[derive(Debug, Deserialize)]
struct Ready {
    pid: u32,
    grpc: String,
    http: Option<String>,
}

/// The child's side: runs the daemon until it is told to stop or until standard input ends.
pub(crate) fn run(args: cuzk_daemon::Args) -> ExitCode {
    std::thread::spawn(|| {
        // A read error ends the wait as the end of the stream does.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        if let Err(cause) = kill_process(getpid(), Signal::TERM) {
            eprintln!("error: this process cannot stop itself: {cause}");
        }
    });
    cuzk_daemon::run(args)
}

impl Daemon {
    /// Starts a daemon on a free port of the loopback interface and waits until it accepts requests.
    ///
    /// `executable` is a `cuzk-bench`; `options` go to the daemon; what it logs goes to the file `log`.
    pub fn start(executable: &Path, options: &[&str], log: &Path) -> Result<Self, Error> {
        let folder = tempfile::tempdir()
            .map_err(|source| Error::file(Path::new("temporary folder"), source))?;
        let ready_file = folder.path().join("ready.json");
        let log_file = File::create(log).map_err(|source| Error::file(log, source))?;
        let mut child = Command::new(executable)
            .args([
                "daemon",
                "--listen",
                "127.0.0.1:0",
                "--status-listen",
                "127.0.0.1:0",
            ])
            .arg("--ready-file")
            .arg(&ready_file)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log_file)
            .spawn()
            .map_err(|source| Error::file(executable, source))?;
        let mut daemon = Self {
            stdin: child.stdin.take(),
            child,
            log: log.to_owned(),
            ready: Ready {
                pid: 0,
                grpc: String::new(),
                http: None,
            },
            _folder: folder,
        };
        daemon.ready = daemon.wait_until_ready(&ready_file)?;
        Ok(daemon)
    }

    fn wait_until_ready(&mut self, ready_file: &Path) -> Result<Ready, Error> {
        let start = Instant::now();
        loop {
            if let Ok(json) = std::fs::read(ready_file) {
                return serde_json::from_slice(&json).map_err(|cause| {
                    Error::Failed(format!("the daemon's ready file cannot be read: {cause}"))
                });
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(Error::Failed(format!(
                    "the daemon ended with {status} before it was ready: {}",
                    self.log_end()
                )));
            }
            if start.elapsed() > START_LIMIT {
                return Err(Error::Failed(format!(
                    "the daemon is not ready after {} s: {}",
                    START_LIMIT.as_secs(),
                    self.log_end()
                )));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Where its gRPC service listens, as a URL for [`crate::client::connect`].
    pub fn addr(&self) -> String {
        if self.ready.grpc.starts_with("unix:") {
            self.ready.grpc.clone()
        } else {
            format!("http://{}", self.ready.grpc)
        }
    }

    /// `HOST:PORT` of its HTTP side.
    pub fn http(&self) -> Option<&str> {
        self.ready.http.as_deref()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.ready.pid
    }

    /// The last lines that it logged, on one line.
    pub fn log_end(&self) -> String {
        const LINES: usize = 5;
        let mut text = String::new();
        if let Ok(mut file) = File::open(&self.log) {
            // What is no UTF-8 is no log of ours; an empty text says so.
            let _ = file.read_to_string(&mut text);
        }
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join(" | ")
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it without a chance to finish anything.
    pub fn kill(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to stop, waits, and kills it when it takes too long.
    pub fn stop(&mut self) {
        drop(self.stdin.take());
        let start = Instant::now();
        while start.elapsed() < STOP_LIMIT {
            if !self.is_running() {
                return;
            }
            std::thread::sleep(POLL);
        }
        self.kill();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}
