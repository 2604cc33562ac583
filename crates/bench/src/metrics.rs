//! `cuzk-bench metrics`.

use cuzk_proto::v1::GetMetricsRequest;
use serde::Serialize;

use crate::client::connect;
use crate::error::Error;
use crate::output::Output;

#[derive(Serialize)]
struct Metrics {
    prometheus_text: String,
}

pub(crate) async fn run(addr: &str, output: Output) -> Result<(), Error> {
    let answer = connect(addr)
        .await?
        .get_metrics(GetMetricsRequest {})
        .await
        .map_err(|status| Error::rpc("GetMetrics", &status))?
        .into_inner();
    let metrics = Metrics {
        prometheus_text: answer.prometheus_text,
    };
    output.print(&metrics, |metrics| print!("{}", metrics.prometheus_text))
}
