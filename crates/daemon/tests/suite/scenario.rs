//! The daemon as its users meet it: start, serve, refuse, end.

use std::os::unix::net::UnixListener;

use crate::support::*;
use cuzk_filecoin::{CircuitId, ProofKind, SectorSize, parameter_file_names};
use cuzk_proto::v1;
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

/// A configuration file as operators of the predecessor have it.
const PREDECESSOR: &str = r#"
[daemon]
listen = "127.0.0.1:0"
status_listen = "127.0.0.1:0"
[srs]
param_cache = "PARAMS"
preload = []
[memory]
total_budget = "auto"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
working_memory_budget = "80GiB"
[gpus]
devices = []
gpu_threads = 32
gpu_workers_per_device = 2
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 0
partition_workers = 12
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 1
[logging]
level = "info"
format = "text"
"#;

fn porep(vanilla_proof: &[u8]) -> v1::SubmitProofRequest {
    v1::SubmitProofRequest {
        proof_kind: v1::ProofKind::PorepSealCommit.into(),
        sector_size: 2048,
        vanilla_proof: vanilla_proof.into(),
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_and_ends_with_success_on_either_signal() {
    for signal in ["TERM", "INT"] {
        let dir = tempfile::tempdir().unwrap();
        let daemon = Daemon::start(dir.path(), on_free_ports(dir.path()));
        let mut health = HealthClient::new(daemon.channel().await);
        health.check(HealthCheckRequest::default()).await.unwrap();
        assert_eq!(daemon.get("/healthz").0, "HTTP/1.1 200 OK");
        let (code, body) = daemon.get("/readyz");
        assert!(
            code.contains("503") && body.contains("porep-2k"),
            "no parameters yet: {body}"
        );
        let status: serde_json::Value = serde_json::from_str(&daemon.get("/status").1).unwrap();
        assert_eq!(status["devices"][0]["state"], "idle", "{status}");
        daemon.signal(signal);
        assert!(daemon.wait().success(), "{signal}");
        assert!(!dir.path().join("ready.json").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_predecessors_configuration_starts_with_one_warning_a_key() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("cuzk.toml");
    let params = dir.path().join("params");
    std::fs::write(
        &config,
        PREDECESSOR.replace("PARAMS", params.to_str().unwrap()),
    )
    .unwrap();
    let mut command = command(dir.path());
    command.arg("--config").arg(&config);
    let daemon = Daemon::start(dir.path(), command);
    let mut client = daemon.client().await;
    client.get_status(v1::GetStatusRequest {}).await.unwrap();
    let log = daemon.log();
    for key in [
        "memory.pinned_budget",
        "gpus.gpu_threads",
        "scheduler.max_batch_size",
        "pipeline.enabled",
    ] {
        assert_eq!(log.matches(key).count(), 1, "{key}: {log}");
    }
}

#[test]
fn a_wrong_configuration_is_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("cuzk.toml");
    let cases = [
        ("[memory]\ntotal_buget = \"auto\"\n", "memory.total_budget"),
        (
            "[gpus]\ndevices = [7]\n",
            "found ordinals [7], expected [] or [0]",
        ),
        (
            "[memory]\ntotal_budget = \"1GiB\"\nsafety_margin = \"2GiB\"\n",
            "expected more than the margin",
        ),
    ];
    for (text, expected) in cases {
        std::fs::write(&config, text).unwrap();
        let mut command = on_free_ports(dir.path());
        command.arg("--config").arg(&config);
        let (status, stderr) = refusal(command);
        assert!(!status.success());
        assert!(only_line(&stderr).contains(expected), "{stderr}");
    }
}

#[test]
fn a_port_in_use_is_one_clear_line() {
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let mut command = command(dir.path());
    command.args(["--listen", &address]);
    let (status, stderr) = refusal(command);
    assert!(!status.success());
    assert_eq!(
        only_line(&stderr),
        format!("cuzk-daemon: {address} is in use by another process")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_socket_is_reclaimed_and_a_live_one_respected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cuzk.sock");
    drop(UnixListener::bind(&path).unwrap());
    let listen = format!("unix://{}", path.display());
    let mut first = command(dir.path());
    first.args(["--listen", &listen]);
    let daemon = Daemon::start(dir.path(), first);
    assert_eq!(daemon.grpc, listen);
    daemon
        .client()
        .await
        .get_status(v1::GetStatusRequest {})
        .await
        .unwrap();

    let other = tempfile::tempdir().unwrap();
    let mut second = command(other.path());
    second.args(["--listen", &listen]);
    let (status, stderr) = refusal(second);
    assert!(!status.success());
    assert!(
        only_line(&stderr).contains("in use by another process"),
        "{stderr}"
    );
    daemon
        .client()
        .await
        .get_status(v1::GetStatusRequest {})
        .await
        .unwrap();
    daemon.signal("TERM");
    assert!(daemon.wait().success());
    assert!(!path.exists());
}

#[test]
fn two_daemons_do_not_share_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Daemon::start(dir.path(), on_free_ports(dir.path()));
    let (status, stderr) = refusal(on_free_ports(dir.path()));
    assert!(!status.success());
    assert!(
        only_line(&stderr).contains("journal") && stderr.contains("in use"),
        "{stderr}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_and_missing_or_truncated_parameters_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(dir.path(), on_free_ports(dir.path()));
    let mut client = daemon.client().await;
    let inputs: [(&[u8], &str); 3] = [
        (b"", "vanilla_proof: found no bytes"),
        (b"not json", "vanilla_proof"),
        (
            b"{\"SectorNum\":1,\"Phase1Out\":\"%%%\",\"SectorSize\":2048}",
            "Phase1Out",
        ),
    ];
    for (bytes, expected) in inputs {
        let error = client.submit_proof(porep(bytes)).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains(expected), "{error}");
    }

    let names = parameter_file_names(CircuitId::new(ProofKind::PoRep, SectorSize::S2KiB));
    let preload = || v1::PreloadSrsRequest {
        circuit_id: "porep-2k".into(),
    };
    let missing = client.preload_srs(preload()).await.unwrap_err();
    assert_eq!(missing.code(), Code::FailedPrecondition);
    let how = "cuzk-bench setup --type porep --sector-size 2KiB";
    assert!(
        missing.message().contains(&names.params) && missing.message().contains(how),
        "{missing}"
    );

    std::fs::create_dir_all(dir.path().join("params")).unwrap();
    std::fs::write(dir.path().join("params").join(&names.params), [0; 10]).unwrap();
    let truncated = client.preload_srs(preload()).await.unwrap_err();
    assert_eq!(truncated.code(), Code::FailedPrecondition);
    let message = truncated.message();
    assert!(
        message.contains(&names.params) && message.contains("found 10 bytes"),
        "{message}"
    );
    assert!(message.contains("expected"), "{message}");
    assert_eq!(daemon.get("/healthz").0, "HTTP/1.1 200 OK");
}

/// An operator who asked for a circuit is told everywhere that it is not there.
#[test]
fn a_preload_that_fails_is_shown_in_log_status_and_readiness() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("cuzk.toml");
    std::fs::write(&config, "[srs]\npreload = [\"porep-2k\"]\n").unwrap();
    let mut command = on_free_ports(dir.path());
    command.arg("--config").arg(&config);
    let daemon = Daemon::start(dir.path(), command);
    let cause = "no such parameter file";
    let begun = std::time::Instant::now();
    let ready = loop {
        let (code, body) = daemon.get("/readyz");
        assert!(code.contains("503"), "{code}");
        let ready: serde_json::Value = serde_json::from_str(&body).unwrap();
        if ready["reasons"].to_string().contains(cause) {
            break ready;
        }
        assert!(begun.elapsed().as_secs() < 60, "{body}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    let reasons = ready["reasons"].to_string();
    assert!(reasons.contains("srs.preload: porep-2k: "), "{reasons}");
    let status: serde_json::Value = serde_json::from_str(&daemon.get("/status").1).unwrap();
    let circuit = &status["circuits"][0];
    assert_eq!(circuit["circuit"], "porep-2k");
    assert!(circuit["error"].to_string().contains(cause), "{circuit}");
    let log = daemon.log();
    let error = log.lines().find(|line| line.contains("ERROR")).unwrap();
    assert!(
        error.contains("srs.preload") && error.contains(cause),
        "{error}"
    );
}
