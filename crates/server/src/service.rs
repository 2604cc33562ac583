//! The eight calls.

use std::time::Duration;

use cuzk_engine::{Engine, EngineError, JobId, Pipeline, Waited};
use cuzk_filecoin::{CircuitId, ParseNameError};
use cuzk_proto::v1;
use tonic::{Request, Response, Status};
use v1::proving_engine_server::ProvingEngine;

use crate::{convert, errors, metrics, picture};

/// `cuzk.v1.ProvingEngine` over an engine.
pub struct Service<P: Pipeline> {
    engine: Engine<P>,
}

impl<P: Pipeline> Service<P> {
    /// Serves this engine.
    pub fn new(engine: Engine<P>) -> Self {
        Self { engine }
    }

    async fn submit(&self, wire: v1::SubmitProofRequest) -> Result<Submission, Status> {
        let kind = wire.proof_kind;
        let submission = convert::submission(wire).map_err(|e| errors::status(&e.into()))?;
        let engine = self.engine.clone();
        // Decoding a large request takes long; it must not hold up the other calls.
        let submitted = tokio::task::spawn_blocking(move || engine.submit(submission)).await;
        let submitted = submitted
            .map_err(|e| Status::internal(format!("the submission did not end: {e}")))?
            .map_err(|error| match error {
                EngineError::Request(e) => errors::status(&convert::in_wire_terms(kind, e).into()),
                other => errors::status(&other),
            })?;
        let assigned_gpu = self.engine.device_of(submitted.job_id).unwrap_or_default();
        Ok(Submission {
            job: submitted.job_id,
            response: v1::SubmitProofResponse {
                job_id: submitted.job_id.to_string(),
                queue_position: submitted.position.try_into().unwrap_or(u32::MAX),
                assigned_gpu,
            },
        })
    }

    async fn wait(&self, job: JobId, timeout_ms: u64) -> Result<v1::AwaitProofResponse, Status> {
        let timeout = (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms));
        let waited = self.engine.wait(job, timeout).await;
        match waited.map_err(|e| errors::status(&e))? {
            Waited::Ended(finished) => Ok(convert::ended(&finished)),
            Waited::TimedOut => Ok(v1::AwaitProofResponse {
                job_id: job.to_string(),
                status: v1::await_proof_response::Status::Timeout.into(),
                ..Default::default()
            }),
        }
    }
}

struct Submission {
    job: JobId,
    response: v1::SubmitProofResponse,
}

#[tonic::async_trait]
impl<P: Pipeline> ProvingEngine for Service<P> {
    async fn submit_proof(
        &self,
        request: Request<v1::SubmitProofRequest>,
    ) -> Result<Response<v1::SubmitProofResponse>, Status> {
        let submission = self.submit(request.into_inner()).await?;
        Ok(Response::new(submission.response))
    }

    async fn await_proof(
        &self,
        request: Request<v1::AwaitProofRequest>,
    ) -> Result<Response<v1::AwaitProofResponse>, Status> {
        let request = request.into_inner();
        let job = job_id(&request.job_id)?;
        self.wait(job, request.timeout_ms).await.map(Response::new)
    }

    async fn prove(
        &self,
        request: Request<v1::ProveRequest>,
    ) -> Result<Response<v1::ProveResponse>, Status> {
        let submit = request.into_inner().submit;
        let submit = submit
            .ok_or_else(|| Status::invalid_argument("submit: found nothing, expected a request"))?;
        let submission = self.submit(submit).await?;
        let result = Some(self.wait(submission.job, 0).await?);
        Ok(Response::new(v1::ProveResponse { result }))
    }

    async fn cancel_proof(
        &self,
        request: Request<v1::CancelProofRequest>,
    ) -> Result<Response<v1::CancelProofResponse>, Status> {
        let job = job_id(&request.into_inner().job_id)?;
        let was_running = self.engine.cancel(job).map_err(|e| errors::status(&e))?;
        Ok(Response::new(v1::CancelProofResponse { was_running }))
    }

    async fn get_status(
        &self,
        _request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::GetStatusResponse>, Status> {
        Ok(Response::new(picture::status(self.engine.status())))
    }

    async fn get_metrics(
        &self,
        _request: Request<v1::GetMetricsRequest>,
    ) -> Result<Response<v1::GetMetricsResponse>, Status> {
        let prometheus_text = metrics::render(&self.engine.status());
        Ok(Response::new(v1::GetMetricsResponse { prometheus_text }))
    }

    async fn preload_srs(
        &self,
        request: Request<v1::PreloadSrsRequest>,
    ) -> Result<Response<v1::PreloadSrsResponse>, Status> {
        let circuit = circuit_id(&request.into_inner().circuit_id)?;
        let loaded = self.engine.preload(circuit).await;
        let loaded = loaded.map_err(|e| errors::status(&e))?;
        Ok(Response::new(v1::PreloadSrsResponse {
            already_loaded: loaded.already_loaded,
            load_time_ms: loaded.load_ms,
        }))
    }

    async fn evict_srs(
        &self,
        request: Request<v1::EvictSrsRequest>,
    ) -> Result<Response<v1::EvictSrsResponse>, Status> {
        let circuit = circuit_id(&request.into_inner().circuit_id)?;
        let freed = self.engine.evict(circuit).map_err(|e| errors::status(&e))?;
        Ok(Response::new(v1::EvictSrsResponse {
            was_loaded: freed.is_some(),
            freed_bytes: freed.unwrap_or(0),
        }))
    }
}

fn job_id(text: &str) -> Result<JobId, Status> {
    text.parse().map_err(|_| {
        Status::invalid_argument(format!(
            "job_id: found {text:?}, expected the id that SubmitProof answered"
        ))
    })
}

fn circuit_id(text: &str) -> Result<CircuitId, Status> {
    text.parse()
        .map_err(|e: ParseNameError| Status::invalid_argument(format!("circuit_id: {e}")))
}
