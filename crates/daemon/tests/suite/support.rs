//! The daemon as a process.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use cuzk_proto::v1::proving_engine_client::ProvingEngineClient;
use tonic::transport::{Channel, Endpoint};

pub(crate) struct Daemon {
    child: Child,
    pub(crate) grpc: String,
    pub(crate) http: String,
    pub(crate) dir: PathBuf,
}

/// The command, with state, parameters and ready file below `dir`, and free ports.
pub(crate) fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk-daemon"));
    command
        .env_remove("FIL_PROOFS_PARAMETER_CACHE")
        .arg("--state-dir")
        .arg(dir.join("state"))
        .arg("--ready-file")
        .arg(dir.join("ready.json"))
        .stdout(Stdio::null());
    command
}

pub(crate) fn on_free_ports(dir: &Path) -> Command {
    let mut command = command(dir);
    command
        .args(["--listen", "127.0.0.1:0", "--status-listen", "127.0.0.1:0"])
        .arg("--param-cache")
        .arg(dir.join("params"));
    command
}

impl Daemon {
    /// Starts it and waits until it serves. Its log goes to `dir/log`.
    pub(crate) fn start(dir: &Path, mut command: Command) -> Self {
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let mut child = command.stderr(log).spawn().unwrap();
        let begun = Instant::now();
        let ready: serde_json::Value = loop {
            if let Ok(line) = std::fs::read_to_string(dir.join("ready.json")) {
                break serde_json::from_str(&line).unwrap();
            }
            let log = || std::fs::read_to_string(dir.join("log")).unwrap();
            assert!(child.try_wait().unwrap().is_none(), "{}", log());
            assert!(begun.elapsed() < Duration::from_secs(60), "{}", log());
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(ready["pid"], child.id());
        Self {
            child,
            grpc: ready["grpc"].as_str().unwrap().into(),
            http: ready["http"].as_str().unwrap_or_default().into(),
            dir: dir.into(),
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) fn wait(mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        std::mem::forget(self);
        status
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("log")).unwrap()
    }

    pub(crate) async fn channel(&self) -> Channel {
        let uri = match self.grpc.starts_with("unix:") {
            true => self.grpc.clone(),
            false => format!("http://{}", self.grpc),
        };
        Endpoint::from_shared(uri).unwrap().connect().await.unwrap()
    }

    pub(crate) async fn client(&self) -> ProvingEngineClient<Channel> {
        ProvingEngineClient::new(self.channel().await)
    }

    /// Status line and body of a GET.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.http).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().into(), body.into())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a daemon that is expected to refuse; answers its exit status and stderr.
pub(crate) fn refusal(mut command: Command) -> (ExitStatus, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    (status, String::from_utf8(stderr).unwrap())
}

/// The one line on stderr that is no log line.
pub(crate) fn only_line(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .filter(|l| l.starts_with("cuzk-daemon: "))
        .collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    lines[0].into()
}
