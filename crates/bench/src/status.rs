//! `cuzk-bench status`.

mod model;

use cuzk_proto::v1::GetStatusRequest;

use crate::client::connect;
use crate::error::Error;
use crate::output::{self, Output};
use model::{Job, Parameters, Status};

pub(crate) async fn run(addr: &str, output: Output) -> Result<(), Error> {
    let answer = connect(addr)
        .await?
        .get_status(GetStatusRequest {})
        .await
        .map_err(|status| Error::rpc("GetStatus", &status))?
        .into_inner();
    output.print(&Status::from(answer), print_text)
}

fn print_text(status: &Status) {
    println!("uptime:  {} s", status.uptime_seconds);
    println!(
        "proofs:  {} completed, {} failed",
        status.proofs_completed, status.proofs_failed
    );
    println!(
        "memory:  {} of {} reserved",
        output::bytes(status.memory_reserved_bytes),
        output::bytes(status.memory_limit_bytes)
    );
    println!("devices:");
    for device in &status.devices {
        let work = match (device.job_id.as_str(), device.cause.as_str()) {
            ("", "") => device.state.clone(),
            ("", cause) => format!("{}: {cause}", device.state),
            (job, _) => format!("{} {job}", device.proof_kind),
        };
        println!(
            "  {} {} ({} of {} free): {work}",
            device.ordinal,
            device.name,
            output::bytes(device.memory_free_bytes),
            output::bytes(device.memory_total_bytes)
        );
    }
    println!("parameters:");
    for entry in &status.parameters {
        print_parameters(entry);
    }
    println!("queues:");
    for queue in &status.queues {
        println!(
            "  {} pending {} in progress {}",
            queue.proof_kind, queue.pending, queue.in_progress
        );
    }
    println!("jobs:");
    for job in &status.jobs {
        println!("  {}", line_of(job));
    }
}

fn print_parameters(entry: &Parameters) {
    println!(
        "  {} {} {} in use by {}{}{}",
        entry.circuit_id,
        entry.tier,
        output::bytes(entry.size_bytes),
        entry.in_use_by,
        match entry.insecure {
            true => ", INSECURE developer parameters",
            false => "",
        },
        match entry.check.as_str() {
            "checking" => ", digest still being checked",
            _ => "",
        },
    );
    if !entry.error.is_empty() {
        println!("    failed: {}", entry.error);
    }
    for key in &entry.keys {
        let about = match (&key.plan, key.error.as_str()) {
            (Some(plan), _) => format!(": {plan}"),
            (None, "") => String::new(),
            (None, error) => format!(": {error}"),
        };
        println!("    device {} {}{about}", key.device, key.state);
    }
}

fn line_of(job: &Job) -> String {
    let client = match job.request_id.as_str() {
        "" => String::new(),
        id => format!(" {id}"),
    };
    let state = match job.partitions {
        0 => job.state.clone(),
        all => format!(
            "{}, {} of {all} partitions proved",
            job.state, job.partitions_proved
        ),
    };
    let waits = match job.waits_for.as_str() {
        "" => String::new(),
        what => format!(", waits for {what}"),
    };
    format!(
        "{}{client} {} {} {state}, {:.1} s old, waited {:.1} s{waits}",
        job.job_id,
        job.circuit_id,
        job.priority,
        job.age_ms as f64 / 1e3,
        job.queue_wait_ms as f64 / 1e3,
    )
}

#[cfg(test)]
mod tests {
    use cuzk_proto::v1;

    use super::model::Plan;
    use super::*;

    #[test]
    fn a_plan_says_what_streams() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let mut plan = v1::MemoryPlan {
            resident_queries: names(&["L", "B in G2"]),
            streamed_queries: names(&["H", "A", "B in G1"]),
            resident_bytes: 3 << 30,
            streamed_bytes: 2 << 30,
            scratch_bytes: 1 << 30,
            memory_cap_bytes: 16 << 30,
        };
        assert_eq!(
            Plan::from(plan.clone()).to_string(),
            "L, B in G2 resident (3.0 GiB), H, A, B in G1 streamed (2.0 GiB a proof), scratch 1.0 GiB, within 16.0 GiB"
        );
        plan.streamed_queries.clear();
        plan.memory_cap_bytes = 0;
        let text = Plan::from(plan).to_string();
        assert!(
            text.contains("nothing streamed") && !text.contains("within"),
            "{text}"
        );
    }

    #[test]
    fn a_job_says_how_far_it_is_and_what_it_waits_for() {
        let job = v1::JobStatus {
            job_id: "id".into(),
            request_id: "porep-1-2".into(),
            circuit_id: "porep-32g".into(),
            priority: v1::Priority::Normal.into(),
            state: "partitions".into(),
            waits_for: "a device".into(),
            age_ms: 12_345,
            queue_wait_ms: 2_000,
            partitions_proved: 3,
            partitions: 10,
        };
        assert_eq!(
            line_of(&Job::from(job)),
            "id porep-1-2 porep-32g NORMAL partitions, 3 of 10 partitions proved, 12.3 s old, waited 2.0 s, waits for a device"
        );
    }
}
