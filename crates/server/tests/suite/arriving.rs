//! Requests that are on their way in.

use crate::support::*;
use cuzk_proto::v1;
use cuzk_server::Address;
use tonic::Code;

/// Many callers together cannot fill the memory with requests that are still on their way.
#[tokio::test(flavor = "multi_thread")]
async fn requests_on_their_way_are_limited_over_all_connections() {
    const LIMIT: u64 = 1 << 20;
    let served = serve_with(&Address::Tcp("127.0.0.1:0".into()), LIMIT).await;
    let half = LIMIT as usize / 2 + 1;
    let large = || porep("large", &format!("name=large {}", "x".repeat(half)));
    let mut client = client(&served).await;
    client.submit_proof(large()).await.expect("has room alone");
    let stalled = stalled_call(&served, half as u32).await;
    let begun = std::time::Instant::now();
    let error = loop {
        match client.submit_proof(large()).await {
            Err(error) => break error,
            // The other one has not begun yet.
            Ok(_) => assert!(begun.elapsed().as_secs() < 30),
        }
    };
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    assert!(error.message().contains("arriving_bytes: found"), "{error}");
    let submit = Some(porep("", "name=small"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();
    stalled.abort();
}
