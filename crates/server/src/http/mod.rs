//! The HTTP side: what monitoring and people read. Nothing here changes anything.
//!
//! | path | what |
//! |---|---|
//! | `GET /` | a page for people, fed by `/status` |
//! | `GET /status` | everything, as JSON |
//! | `GET /metrics` | counters and gauges, in the Prometheus text format |
//! | `GET /healthz` | 200 while the process serves or drains |
//! | `GET /readyz` | 200 while jobs are taken, some device works, some circuit can be proved and all of `srs.preload` are loaded; else 503; as JSON, with reasons |

use std::collections::BTreeMap;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use cuzk_engine::{CircuitStatus, Engine, Pipeline, Status};
use serde::Serialize;
use tokio::net::TcpListener;

use crate::grpc::{Phases, became_true};
use crate::metrics;

const PAGE: &str = include_str!("page.html");

/// Serves until `phases.closed`.
pub async fn serve_http<P: Pipeline>(
    engine: Engine<P>,
    listener: TcpListener,
    phases: Phases,
) -> std::io::Result<()> {
    axum::serve(listener, router(engine))
        .with_graceful_shutdown(became_true(phases.closed))
        .await
}

/// The routes of an engine.
pub fn router<P: Pipeline>(engine: Engine<P>) -> Router {
    Router::new()
        .route("/", get(async || Html(PAGE)))
        .route("/status", get(status::<P>))
        .route("/metrics", get(metrics_text::<P>))
        .route("/healthz", get(healthz::<P>))
        .route("/readyz", get(readyz::<P>))
        .with_state(engine)
}

async fn status<P: Pipeline>(State(engine): State<Engine<P>>) -> Json<Status> {
    Json(engine.status())
}

async fn metrics_text<P: Pipeline>(State(engine): State<Engine<P>>) -> Response {
    let text = metrics::render(&engine.status());
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}

async fn healthz<P: Pipeline>(State(engine): State<Engine<P>>) -> (StatusCode, &'static str) {
    match engine.status().phase {
        "closed" => (StatusCode::SERVICE_UNAVAILABLE, "closed\n"),
        _ => (StatusCode::OK, "ok\n"),
    }
}

/// What [`readyz`] answers.
#[derive(Debug, Serialize)]
struct Ready {
    ready: bool,
    /// Why not.
    reasons: Vec<String>,
    /// Circuits that can be proved: their parameter files are there.
    circuits: Vec<String>,
    /// Circuits that cannot, and why.
    missing: BTreeMap<String, String>,
}

async fn readyz<P: Pipeline>(State(engine): State<Engine<P>>) -> Response {
    // Looks at files, so not on the threads that serve.
    match tokio::task::spawn_blocking(move || readiness(&engine)).await {
        Ok(ready) if ready.ready => Json(ready).into_response(),
        Ok(ready) => (StatusCode::SERVICE_UNAVAILABLE, Json(ready)).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// What keeps a circuit of `srs.preload` from being used.
fn not_preloaded(circuit: &CircuitStatus) -> Option<String> {
    if !circuit.pinned || circuit.state == "loaded" {
        return None;
    }
    let state = match &circuit.error {
        Some(error) => error,
        None => "not loaded yet",
    };
    Some(format!("srs.preload: {}: {state}", circuit.circuit))
}

fn readiness<P: Pipeline>(engine: &Engine<P>) -> Ready {
    let mut circuits = Vec::new();
    let mut missing = BTreeMap::new();
    for (id, found) in engine.readiness() {
        match found {
            Ok(()) => circuits.push(id.to_string()),
            Err(cause) => {
                missing.insert(id.to_string(), cause);
            }
        }
    }
    let status = engine.status();
    let usable = status.devices.iter().any(|d| d.cause.is_none());
    let conditions = [
        (engine.serving(), "no jobs are taken: the service is ending"),
        (usable, "no device passed its self-test"),
        (!circuits.is_empty(), "no circuit has its parameter files"),
    ];
    let unmet = conditions.into_iter().filter(|(holds, _)| !holds);
    let mut reasons: Vec<String> = unmet.map(|(_, reason)| reason.into()).collect();
    reasons.extend(status.circuits.iter().filter_map(not_preloaded));
    Ready {
        ready: reasons.is_empty(),
        reasons,
        circuits,
        missing,
    }
}
