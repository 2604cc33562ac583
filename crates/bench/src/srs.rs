//! `cuzk-bench preload` and `cuzk-bench evict`.

use cuzk_proto::v1::{EvictSrsRequest, PreloadSrsRequest};
use serde::Serialize;

use crate::client::connect;
use crate::error::Error;
use crate::output::{self, Output};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The circuit, such as porep-32g.
    #[arg(long)]
    circuit_id: String,
}

#[derive(Serialize)]
struct Preloaded {
    circuit_id: String,
    already_loaded: bool,
    load_time_ms: u64,
}

#[derive(Serialize)]
struct Evicted {
    circuit_id: String,
    was_loaded: bool,
    freed_bytes: u64,
}

pub(crate) async fn preload(addr: &str, args: &Args, output: Output) -> Result<(), Error> {
    let request = PreloadSrsRequest {
        circuit_id: args.circuit_id.clone(),
    };
    let answer = connect(addr)
        .await?
        .preload_srs(request)
        .await
        .map_err(|status| Error::rpc("PreloadSRS", &status))?
        .into_inner();
    let preloaded = Preloaded {
        circuit_id: args.circuit_id.clone(),
        already_loaded: answer.already_loaded,
        load_time_ms: answer.load_time_ms,
    };
    output.print(&preloaded, |preloaded| {
        println!("circuit_id:     {}", preloaded.circuit_id);
        println!("already loaded: {}", preloaded.already_loaded);
        println!("load time:      {} ms", preloaded.load_time_ms);
    })
}

pub(crate) async fn evict(addr: &str, args: &Args, output: Output) -> Result<(), Error> {
    let request = EvictSrsRequest {
        circuit_id: args.circuit_id.clone(),
    };
    let answer = connect(addr)
        .await?
        .evict_srs(request)
        .await
        .map_err(|status| Error::rpc("EvictSRS", &status))?
        .into_inner();
    let evicted = Evicted {
        circuit_id: args.circuit_id.clone(),
        was_loaded: answer.was_loaded,
        freed_bytes: answer.freed_bytes,
    };
    output.print(&evicted, |evicted| {
        println!("circuit_id: {}", evicted.circuit_id);
        println!("was loaded: {}", evicted.was_loaded);
        println!("freed:      {}", output::bytes(evicted.freed_bytes));
    })
}
