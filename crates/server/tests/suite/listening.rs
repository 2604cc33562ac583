//! Where the server listens, and where it does not.

use crate::support::*;
use cuzk_proto::v1;
use cuzk_server::{Address, ListenError, Listener};

#[tokio::test(flavor = "multi_thread")]
async fn a_unix_socket_serves_a_stale_one_is_reclaimed_and_a_live_one_respected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cuzk.sock");
    // A process that died left its file.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let address = Address::Unix(path.clone());
    let served = serve(&address).await;
    let mut client = client(&served).await;
    let submit = Some(porep("", "name=a"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();

    let refused = Listener::bind(&address).await.unwrap_err();
    assert!(matches!(refused, ListenError::InUse { .. }), "{refused}");
    drop(client);
    served.engine.close();
    served.closed.send(true).unwrap();
    served.server.await.unwrap();
    assert!(!path.exists(), "removed at the end");

    std::fs::write(&path, "a file").unwrap();
    let refused = Listener::bind(&address).await.unwrap_err();
    assert!(
        matches!(refused, ListenError::NotASocket { .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn a_port_in_use_is_one_clear_line() {
    let first = Listener::bind(&Address::Tcp("127.0.0.1:0".into()))
        .await
        .unwrap();
    let taken = first.local_address();
    let refused = Listener::bind(&Address::Tcp(taken.clone()))
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("{taken} is in use by another process")
    );
}
