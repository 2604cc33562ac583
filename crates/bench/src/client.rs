//! The connection to a daemon.

use std::future::Future;
use std::time::Duration;

use cuzk_proto::MAX_MESSAGE_BYTES;
use cuzk_proto::v1::proving_engine_client::ProvingEngineClient;
use tonic::transport::{Channel, Endpoint};

use crate::error::Error;

/// The generated client.
pub type Client = ProvingEngineClient<Channel>;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a client command to its end.
pub(crate) fn block_on<T>(command: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| Error::Failed(format!("the async runtime does not start: {cause}")))?
        .block_on(command)
}

/// Connects to `addr`: `http://host:port` or `unix:///path`.
pub async fn connect(addr: &str) -> Result<Client, Error> {
    let channel = channel(addr).await?;
    Ok(ProvingEngineClient::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES))
}

async fn channel(addr: &str) -> Result<Channel, Error> {
    let unusable =
        |found: String| Error::input("--addr", found, "http://HOST:PORT or unix:///PATH");
    if !(addr.starts_with("http://") || addr.starts_with("unix:///")) {
        return Err(unusable(addr.to_owned()));
    }
    Endpoint::from_shared(addr.to_owned())
        .map_err(|cause| unusable(format!("{addr} ({cause})")))?
        .connect_timeout(CONNECT_TIMEOUT)
        .connect()
        .await
        .map_err(|cause| Error::Connect {
            addr: addr.to_owned(),
            cause: root_cause(&cause),
        })
}

/// The innermost source: "transport error" alone helps nobody.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
