//! A server over a fake pipeline, and clients for it.

use std::sync::Arc;

use crate::fake::{self, Fake, Script};
use cuzk_engine::Engine;
use cuzk_proto::{MAX_MESSAGE_BYTES, v1};
use cuzk_server::{Address, Listener, Phases, serve_grpc, serve_http};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};
use v1::proving_engine_client::ProvingEngineClient;

pub(crate) struct Served {
    pub(crate) engine: Engine<Fake>,
    pub(crate) script: Arc<Script>,
    pub(crate) grpc: String,
    pub(crate) http: String,
    pub(crate) draining: watch::Sender<bool>,
    pub(crate) closed: watch::Sender<bool>,
    pub(crate) server: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

/// Serves at this address, and HTTP at a free port.
pub(crate) async fn serve(address: &Address) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let (fake, script) = Fake::new();
    let engine = Engine::start(fake, fake::settings(dir.path())).unwrap();
    let listener = Listener::bind(address).await.unwrap();
    let grpc = listener.local_address();
    let any = Address::Tcp("127.0.0.1:0".into());
    let http_listener = Listener::bind(&any).await.unwrap();
    let http = http_listener.local_address();
    let (draining, draining_seen) = watch::channel(false);
    let (closed, closed_seen) = watch::channel(false);
    let phases = Phases {
        draining: draining_seen,
        closed: closed_seen,
    };
    tokio::spawn(serve_http(
        engine.clone(),
        http_listener.into_tcp().unwrap(),
        phases.clone(),
    ));
    let serving = serve_grpc(engine.clone(), listener, phases);
    let server = tokio::spawn(async { serving.await.unwrap() });
    Served {
        engine,
        script,
        grpc,
        http,
        draining,
        closed,
        server,
        _dir: dir,
    }
}

pub(crate) async fn serve_tcp() -> Served {
    serve(&Address::Tcp("127.0.0.1:0".into())).await
}

pub(crate) async fn channel(address: &str) -> Channel {
    let uri = match address.starts_with("unix:") {
        true => address.to_string(),
        false => format!("http://{address}"),
    };
    Endpoint::from_shared(uri).unwrap().connect().await.unwrap()
}

pub(crate) async fn client(served: &Served) -> ProvingEngineClient<Channel> {
    ProvingEngineClient::new(channel(&served.grpc).await)
        .max_decoding_message_size(2 * MAX_MESSAGE_BYTES)
        .max_encoding_message_size(2 * MAX_MESSAGE_BYTES)
}

pub(crate) fn porep(id: &str, text: &str) -> v1::SubmitProofRequest {
    v1::SubmitProofRequest {
        request_id: id.into(),
        proof_kind: v1::ProofKind::PorepSealCommit.into(),
        sector_size: 2048,
        vanilla_proof: text.into(),
        ..Default::default()
    }
}

pub(crate) fn wait_for(job_id: &str, timeout_ms: u64) -> v1::AwaitProofRequest {
    v1::AwaitProofRequest {
        job_id: job_id.into(),
        timeout_ms,
    }
}
