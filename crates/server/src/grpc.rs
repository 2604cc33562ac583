//! The gRPC server: the service, health, reflection, over TCP or a unix socket.

use cuzk_engine::{Engine, Pipeline};
use cuzk_proto::{FILE_DESCRIPTOR_SET, MAX_MESSAGE_BYTES, v1};
use tokio::sync::watch;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::body::Body;
use tonic::codegen::http::{HeaderValue, Request, Response};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tower::util::{MapRequestLayer, MapResponseLayer};
use v1::proving_engine_server::ProvingEngineServer;

use crate::Service;
use crate::arriving::{Arriving, Counted};
use crate::listen::{Kind, Listener};

/// Bytes that a client may send ahead of our reading; small windows make a 50 MB request slow.
const STREAM_WINDOW: u32 = 8 << 20;
const CONNECTION_WINDOW: u32 = 32 << 20;

/// What the server is told about the end of the process.
#[derive(Clone, Debug)]
pub struct Phases {
    /// Becomes true when no more jobs are taken: health turns to NOT_SERVING.
    pub draining: watch::Receiver<bool>,
    /// Becomes true when the server is to stop.
    pub closed: watch::Receiver<bool>,
}

/// Serves until `phases.closed`. Requests that are still on their way in may take `arriving_bytes` together.
pub async fn serve_grpc<P: Pipeline>(
    engine: Engine<P>,
    listener: Listener,
    phases: Phases,
    arriving_bytes: u64,
) -> Result<(), tonic::transport::Error> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health
        .set_serving::<ProvingEngineServer<Service<P>>>()
        .await;
    let draining = phases.draining;
    tokio::spawn(async move {
        became_true(draining).await;
        health
            .set_not_serving::<ProvingEngineServer<Service<P>>>()
            .await;
        health
            .set_service_status("", tonic_health::ServingStatus::NotServing)
            .await;
    });
    let service = ProvingEngineServer::new(Service::new(engine))
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let arriving = Arriving::new(arriving_bytes);
    let counted = move |request: Request<Body>| {
        request.map(|body| Body::new(Counted::new(body, arriving.clone())))
    };
    let router = Server::builder()
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .layer(MapResponseLayer::new(too_large_is_invalid))
        .layer(MapRequestLayer::new(counted))
        .add_service(service)
        .add_service(health_service)
        .add_service(
            reflection()
                .build_v1()
                .expect("our own descriptors are valid"),
        )
        .add_service(
            reflection()
                .build_v1alpha()
                .expect("our own descriptors are valid"),
        );
    let closed = became_true(phases.closed);
    match listener.kind {
        Kind::Tcp(listener) => {
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            router.serve_with_incoming_shutdown(incoming, closed).await
        }
        Kind::Unix(listener, _file) => {
            let incoming = UnixListenerStream::new(listener);
            router.serve_with_incoming_shutdown(incoming, closed).await
        }
    }
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

/// A message above the limit is the client's mistake like any other. The transport answers OUT_OF_RANGE (11), naming size and limit;
/// nothing else here does.
fn too_large_is_invalid(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    if headers.get("grpc-status").is_some_and(|code| code == "11") {
        headers.insert("grpc-status", HeaderValue::from_static("3"));
    }
    response
}

pub(crate) async fn became_true(mut flag: watch::Receiver<bool>) {
    // An error means that the sender is gone, and with it the process's main task.
    let _ = flag.wait_for(|set| *set).await;
}
