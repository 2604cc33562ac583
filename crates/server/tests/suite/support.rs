//! A server over a fake pipeline, and clients for it.

use std::sync::Arc;

use crate::fake::{self, Fake, Script};
use cuzk_engine::Engine;
use cuzk_proto::{MAX_MESSAGE_BYTES, v1};
use cuzk_server::{Address, Listener, Phases, serve_grpc, serve_http};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::{Bytes, Context, Pin, Poll, Service, http};
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
    serve_with(address, MAX_MESSAGE_BYTES as u64).await
}

/// With a limit on the bytes of requests that are on their way in.
pub(crate) async fn serve_with(address: &Address, arriving_bytes: u64) -> Served {
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
    let serving = serve_grpc(engine.clone(), listener, phases, arriving_bytes);
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

/// Begins a SubmitProof call whose message has so many bytes, of which none ever comes.
pub(crate) async fn stalled_call(served: &Served, length: u32) -> JoinHandle<()> {
    let mut channel = channel(&served.grpc).await;
    let path = "cuzk.v1.ProvingEngine/SubmitProof";
    let prefix = [&[0][..], &length.to_be_bytes()].concat();
    let request = http::Request::post(format!("http://{}/{path}", served.grpc))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Body::new(Stalled(Some(prefix.into()))))
        .unwrap();
    std::future::poll_fn(|context| channel.poll_ready(context))
        .await
        .unwrap();
    tokio::spawn(async move {
        let _ = channel.call(request).await;
    })
}

/// A body that goes on after its first bytes, though not yet.
struct Stalled(Option<Bytes>);

impl http_body::Body for Stalled {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.0.take() {
            Some(data) => Poll::Ready(Some(Ok(http_body::Frame::data(data)))),
            None => Poll::Pending,
        }
    }
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
