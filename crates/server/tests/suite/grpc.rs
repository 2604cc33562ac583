//! The service over a real connection, TCP and unix socket, with a pipeline that proves nothing.

use crate::fake;
use crate::support::*;
use cuzk_proto::v1;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};
use v1::await_proof_response::Status;

fn at(job_id: &str) -> v1::CancelProofRequest {
    v1::CancelProofRequest {
        job_id: job_id.into(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_goes_round() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    let submitted = client
        .submit_proof(porep("porep-1-2", "name=a partitions=10"))
        .await
        .unwrap()
        .into_inner();
    let ended = client
        .await_proof(wait_for(&submitted.job_id, 0))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(ended.status(), Status::Completed);
    assert_eq!(
        (ended.proof.len(), ended.job_id.as_str()),
        (1920, submitted.job_id.as_str())
    );
    assert_eq!(
        (ended.devices.as_str(), ended.error_message.as_str()),
        ("fake-0", "")
    );
    let late = client
        .await_proof(wait_for(&submitted.job_id, 1))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(late.proof, ended.proof);

    let submit = Some(porep("porep-1-2", "name=a partitions=10"));
    let again = client
        .prove(v1::ProveRequest { submit })
        .await
        .unwrap()
        .into_inner();
    assert_eq!(again.result.unwrap().job_id, submitted.job_id);
    let nothing = client
        .prove(v1::ProveRequest { submit: None })
        .await
        .unwrap_err();
    assert_eq!(nothing.code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_cancelling_and_unknown_jobs() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    served.script.close_gate();
    let job = client
        .submit_proof(porep("", "name=a partitions=3"))
        .await
        .unwrap()
        .into_inner()
        .job_id;
    let timeout = client
        .await_proof(wait_for(&job, 10))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (timeout.status(), timeout.proof.len()),
        (Status::Timeout, 0)
    );
    fake::until(&served.engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });

    let status = client
        .get_status(v1::GetStatusRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (
            status.gpus[0].current_job_id.as_str(),
            status.gpus[0].current_proof_kind.as_str()
        ),
        (job.as_str(), "porep")
    );
    assert_eq!(
        (
            status.queues[0].proof_kind.as_str(),
            status.queues[0].in_progress
        ),
        ("porep-2k", 1)
    );
    assert_eq!(
        (
            status.loaded_srs[0].circuit_id.as_str(),
            status.loaded_srs[0].ref_count
        ),
        ("porep-2k", 1)
    );
    let of = &status.jobs[0];
    assert_eq!(
        (
            of.job_id.as_str(),
            of.circuit_id.as_str(),
            of.state.as_str()
        ),
        (job.as_str(), "porep-2k", "partitions")
    );
    assert_eq!((of.partitions, of.partitions_proved), (3, 0));
    assert_eq!(of.priority(), v1::Priority::Normal);
    let key = &status.loaded_srs[0].keys[0];
    assert_eq!((key.ordinal, key.state.as_str()), (0, "loaded"));
    let plan = key.plan.as_ref().expect("a device with memory of its own");
    assert_eq!(plan.streamed_queries, ["H", "A", "B in G1"]);
    assert_eq!(plan.resident_queries, ["L", "B in G2"]);
    assert_eq!(
        (plan.resident_bytes, plan.streamed_bytes, plan.scratch_bytes),
        (5, 6, 7)
    );
    assert_eq!(plan.memory_cap_bytes, 20);

    let changed = client
        .submit_proof(porep("x", "name=b"))
        .await
        .unwrap()
        .into_inner();
    let taken = client.submit_proof(porep("x", "name=c")).await.unwrap_err();
    assert_eq!(taken.code(), Code::AlreadyExists);
    assert!(taken.message().contains(&changed.job_id), "{taken}");

    assert!(
        client
            .cancel_proof(at(&job))
            .await
            .unwrap()
            .into_inner()
            .was_running
    );
    served.script.open_gate();
    let cancelled = client
        .await_proof(wait_for(&job, 0))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(cancelled.status(), Status::Cancelled);
    assert!(
        !client
            .cancel_proof(at(&job))
            .await
            .unwrap()
            .into_inner()
            .was_running
    );

    let unknown = "00000000-0000-4000-8000-000000000000";
    for error in [
        client.await_proof(wait_for(unknown, 0)).await.unwrap_err(),
        client.cancel_proof(at(unknown)).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::NotFound, "{error}");
    }
    let malformed = client.await_proof(wait_for("17", 0)).await.unwrap_err();
    assert_eq!(malformed.code(), Code::InvalidArgument);
    assert!(
        malformed.message().starts_with("job_id: found \"17\""),
        "{malformed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn preload_evict_and_metrics() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    let preload = |id: &str| v1::PreloadSrsRequest {
        circuit_id: id.into(),
    };
    let evict = |id: &str| v1::EvictSrsRequest {
        circuit_id: id.into(),
    };
    assert!(
        !client
            .evict_srs(evict("snap-2k"))
            .await
            .unwrap()
            .into_inner()
            .was_loaded
    );
    assert!(
        !client
            .preload_srs(preload("snap-2k"))
            .await
            .unwrap()
            .into_inner()
            .already_loaded
    );
    assert!(
        client
            .preload_srs(preload("snap-2k"))
            .await
            .unwrap()
            .into_inner()
            .already_loaded
    );
    let evicted = client
        .evict_srs(evict("snap-2k"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!((evicted.was_loaded, evicted.freed_bytes), (true, 1000));
    let unknown = client.preload_srs(preload("porep-3k")).await.unwrap_err();
    assert_eq!(unknown.code(), Code::InvalidArgument);
    assert!(
        unknown.message().contains("porep-3k") && unknown.message().contains("porep-2k"),
        "{unknown}"
    );

    let submit = Some(porep("", "name=a partitions=2"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();
    let text = client
        .get_metrics(v1::GetMetricsRequest {})
        .await
        .unwrap()
        .into_inner()
        .prometheus_text;
    for line in [
        "cuzk_jobs_ended_total{circuit=\"porep-2k\",outcome=\"completed\"} 1",
        "cuzk_partition_prove_seconds_count{circuit=\"porep-2k\"} 2",
        "cuzk_proof_verify_failures_total 0",
        "cuzk_device_usable{ordinal=\"0\",name=\"fake-0\"} 1",
        "cuzk_device_partitions_proved_total{ordinal=\"0\",name=\"fake-0\"} 2",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_gets_invalid_argument_and_the_service_goes_on() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    let mut no_kind = porep("", "name=a");
    no_kind.proof_kind = 0;
    for (request, expected) in [
        (no_kind, "proof_kind: found PROOF_KIND_UNSPECIFIED"),
        (porep("", ""), "vanilla_proof: found no bytes"),
        (
            porep("", "nonsense"),
            "vanilla_proof: found no name, expected a name",
        ),
        (
            v1::SubmitProofRequest {
                sector_size: 3,
                ..porep("", "name=a")
            },
            "sector_size: found 3",
        ),
    ] {
        let error = client.submit_proof(request).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().starts_with(expected), "{error}");
    }
    let submit = Some(porep("", "name=good"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();
}

/// agglayer/provers#304: a message size limit broke silently.
#[tokio::test(flavor = "multi_thread")]
async fn a_51_mb_message_passes_and_over_the_limit_the_error_names_the_limit() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    let text = |bytes: usize| format!("name=large {}", "x".repeat(bytes));
    let submit = Some(porep("", &text(51_000_000)));
    let proved = client
        .prove(v1::ProveRequest { submit })
        .await
        .unwrap()
        .into_inner();
    assert_eq!(proved.result.unwrap().status(), Status::Completed);

    let error = client
        .submit_proof(porep("", &text(258 << 20)))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(
        error
            .message()
            .contains(&cuzk_proto::MAX_MESSAGE_BYTES.to_string()),
        "{error}"
    );
    let submit = Some(porep("", "name=good"));
    client.prove(v1::ProveRequest { submit }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn health_follows_the_phases() {
    let served = serve_tcp().await;
    let mut health = HealthClient::new(channel(&served.grpc).await);
    let request = |service: &str| HealthCheckRequest {
        service: service.into(),
    };
    for service in ["", "cuzk.v1.ProvingEngine"] {
        let answer = health.check(request(service)).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
    }
    let mut watched = health
        .watch(request("cuzk.v1.ProvingEngine"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        watched.next().await.unwrap().unwrap().status(),
        ServingStatus::Serving
    );
    served.draining.send(true).unwrap();
    assert_eq!(
        watched.next().await.unwrap().unwrap().status(),
        ServingStatus::NotServing
    );
    drop((watched, health));
    served.engine.close();
    served.closed.send(true).unwrap();
    served.server.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn reflection_lists_the_service_in_both_versions() {
    let served = serve_tcp().await;
    let channel = channel(&served.grpc).await;
    {
        use tonic_reflection::pb::v1 as pb;
        let ask = pb::ServerReflectionRequest {
            host: String::new(),
            message_request: Some(pb::server_reflection_request::MessageRequest::ListServices(
                "".into(),
            )),
        };
        let mut client = pb::server_reflection_client::ServerReflectionClient::new(channel.clone());
        let mut answers = client
            .server_reflection_info(tokio_stream::once(ask))
            .await
            .unwrap()
            .into_inner();
        let answer = answers
            .next()
            .await
            .unwrap()
            .unwrap()
            .message_response
            .unwrap();
        let pb::server_reflection_response::MessageResponse::ListServicesResponse(list) = answer
        else {
            panic!("{answer:?}");
        };
        let names: Vec<_> = list.service.into_iter().map(|s| s.name).collect();
        assert!(
            names.contains(&"cuzk.v1.ProvingEngine".to_string()),
            "{names:?}"
        );
        assert!(
            names.contains(&"grpc.health.v1.Health".to_string()),
            "{names:?}"
        );
    }
    use tonic_reflection::pb::v1alpha as pb;
    let ask = pb::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(
            pb::server_reflection_request::MessageRequest::FileContainingSymbol(
                "cuzk.v1.ProvingEngine".into(),
            ),
        ),
    };
    let mut client = pb::server_reflection_client::ServerReflectionClient::new(channel);
    let mut answers = client
        .server_reflection_info(tokio_stream::once(ask))
        .await
        .unwrap()
        .into_inner();
    let answer = answers
        .next()
        .await
        .unwrap()
        .unwrap()
        .message_response
        .unwrap();
    assert!(
        matches!(
            answer,
            pb::server_reflection_response::MessageResponse::FileDescriptorResponse(_)
        ),
        "{answer:?}"
    );
}

/// Late in its life the service answers, and says that the job is kept.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_wait_at_the_end_are_told() {
    let served = serve_tcp().await;
    let mut client = client(&served).await;
    served.script.close_gate();
    let job = client
        .submit_proof(porep("", "name=a"))
        .await
        .unwrap()
        .into_inner()
        .job_id;
    let waiting = tokio::spawn({
        let mut client = client.clone();
        let request = wait_for(&job, 0);
        async move { client.await_proof(request).await }
    });
    fake::until(&served.engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    served.engine.close();
    let told = waiting.await.unwrap().unwrap_err();
    assert_eq!(told.code(), Code::Unavailable);
    assert!(told.message().contains("go on after the restart"), "{told}");
    let refused = client.submit_proof(porep("", "name=b")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    served.script.open_gate();
}
