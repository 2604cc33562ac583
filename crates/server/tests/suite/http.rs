//! What operators and probes see.

use crate::fake;
use crate::support::*;
use cuzk_proto::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Status code, head and body of a GET.
async fn get(served: &Served, path: &str) -> (u16, String, String) {
    let mut stream = tokio::net::TcpStream::connect(&served.http).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    (code, head.to_lowercase(), body.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn status_is_json_with_partitions_and_what_is_waited_for() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    served.script.close_gate();
    client
        .submit_proof(porep("porep-1-2", "name=a partitions=3"))
        .await
        .unwrap();
    fake::until(&served.engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let (code, head, body) = get(&served, "/status").await;
    assert_eq!(code, 200);
    assert!(head.contains("application/json"), "{head}");
    let status: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status["phase"], "serving");
    assert_eq!(status["memory"]["total_bytes"], 1 << 20);
    let job = &status["pipelines"][0];
    assert_eq!(
        (job["request_id"].as_str(), job["priority"].as_str()),
        (Some("porep-1-2"), Some("normal"))
    );
    assert_eq!(job["partitions"].as_array().unwrap().len(), 3);
    assert_eq!(job["partitions"][0]["state"], "proving");
    assert_eq!(status["devices"][0]["partition"], 0);
    assert_eq!(status["circuits"][0]["insecure"], true);
    served.script.open_gate();
}

/// What `srs.preload` names and is not there is a reason not to be ready; the other circuits are served.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_preload_is_shown_until_it_is_repaired() {
    let served = serve_tcp().await;
    let snap: cuzk_filecoin::CircuitId = "snap-2k".parse().unwrap();
    let reasons = async || {
        let (code, _, body) = get(&served, "/readyz").await;
        let ready: serde_json::Value = serde_json::from_str(&body).unwrap();
        (code, ready["reasons"].to_string())
    };
    served.engine.pin(snap);
    let waiting = reasons().await;
    assert_eq!(
        waiting,
        (503, r#"["srs.preload: snap-2k: not loaded yet"]"#.into())
    );
    let damaged = "x.params: found 3 bytes, expected 5";
    *served.script.open_error.lock().unwrap() = Some(damaged.into());
    served.engine.preload(snap).await.unwrap_err();
    let failed = reasons().await;
    assert_eq!(
        failed,
        (503, format!("[\"srs.preload: snap-2k: {damaged}\"]"))
    );
    let mut client = client(&served).await;
    let answer = client.get_status(v1::GetStatusRequest {}).await;
    let srs = answer.unwrap().into_inner().loaded_srs.swap_remove(0);
    assert_eq!((srs.pinned, srs.error.as_str()), (true, damaged));

    *served.script.open_error.lock().unwrap() = None;
    let submit = Some(porep("", "name=a"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();
    served.engine.preload(snap).await.unwrap();
    assert_eq!(reasons().await, (200, "[]".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_and_page() {
    let served = serve_tcp().await;
    assert_eq!(get(&served, "/healthz").await.0, 200);
    let (code, _, body) = get(&served, "/readyz").await;
    let ready: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (code, &ready["ready"]),
        (200, &serde_json::Value::Bool(true))
    );
    assert!(
        ready["circuits"]
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c == "porep-2k"),
        "{body}"
    );
    let (code, head, body) = get(&served, "/").await;
    assert_eq!(code, 200);
    assert!(head.contains("text/html") && body.contains("<title>cuzk</title>"));
    assert!(
        !body.contains("http://") && !body.contains("https://"),
        "self-contained"
    );
    assert_eq!(get(&served, "/nothing").await.0, 404);

    let mut client = client(&served).await;
    let submit = Some(porep("", "name=a"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();
    let (code, head, body) = get(&served, "/metrics").await;
    assert_eq!(code, 200);
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(body.contains("cuzk_jobs_accepted_total 1\n"), "{body}");

    served.engine.close();
    assert_eq!(get(&served, "/healthz").await.0, 503);
    assert_eq!(get(&served, "/readyz").await.0, 503);
}
