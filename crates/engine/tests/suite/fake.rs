//! A pipeline that proves nothing: what it does, and when, is what the test says.

#![allow(dead_code)] // the server's tests use a part of it

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use cuzk_engine::{
    Decoded, DeviceInfo, Engine, Footprint, HostGrant, JobId, LateCheck, Limits, Opened, Outcome,
    Pipeline, Placement, Priority, ProveFault, Settings, Status, Submission, Waited,
};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, RequestError, SectorSize};

pub(crate) const PROOF_BYTES: usize = 192;

/// What a fake request asks for, in its vanilla proof, as `key=value` words.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) name: String,
    pub(crate) partitions: usize,
    /// Stage that panics.
    pub(crate) panic: String,
}

/// Switches and records shared by the fake and its test.
#[derive(Default)]
pub(crate) struct Script {
    /// Every device task, in the order in which they began: `name/k@device`.
    pub(crate) proved: Mutex<Vec<String>>,
    pub(crate) decoded: Mutex<Vec<String>>,
    /// `None`: open. Otherwise the number of device tasks that may still end.
    gate: Mutex<Option<usize>>,
    gate_moved: Condvar,
    /// Device faults still to come, by device.
    pub(crate) faults: Mutex<HashMap<usize, usize>>,
    /// Devices whose proofs are wrong.
    pub(crate) wrong: Mutex<Vec<usize>>,
    /// Devices that fail their self-test.
    pub(crate) sick: Mutex<Vec<usize>>,
    /// Devices that are lost: they neither prove nor pass their self-test.
    pub(crate) lost: Mutex<Vec<usize>>,
    /// What the late check of the circuit that is opened next will find.
    pub(crate) late_check: Mutex<Option<Receiver<Result<(), String>>>>,
    /// Bytes of host memory that a key streams from.
    pub(crate) stream_bytes: Mutex<u64>,
    pub(crate) short_proofs: Mutex<bool>,
    pub(crate) open_error: Mutex<Option<String>>,
}

impl Script {
    pub(crate) fn close_gate(&self) {
        *self.gate.lock().unwrap() = Some(0);
    }

    pub(crate) fn let_through(&self, tasks: usize) {
        if let Some(permits) = self.gate.lock().unwrap().as_mut() {
            *permits += tasks;
        }
        self.gate_moved.notify_all();
    }

    pub(crate) fn open_gate(&self) {
        *self.gate.lock().unwrap() = None;
        self.gate_moved.notify_all();
    }

    fn pass_gate(&self) {
        let mut gate = self.gate.lock().unwrap();
        loop {
            match gate.as_mut() {
                None => return,
                Some(0) => gate = self.gate_moved.wait(gate).unwrap(),
                Some(permits) => {
                    *permits -= 1;
                    return;
                }
            }
        }
    }

    pub(crate) fn proved(&self) -> Vec<String> {
        self.proved.lock().unwrap().clone()
    }
}

pub(crate) struct Fake {
    pub(crate) script: Arc<Script>,
    pub(crate) devices: usize,
    pub(crate) footprint: Footprint,
    pub(crate) fallback: Option<usize>,
}

#[derive(Clone)]
pub(crate) struct FakeProof {
    device: usize,
}

impl Fake {
    pub(crate) fn new() -> (Self, Arc<Script>) {
        let script = Arc::new(Script::default());
        let fake = Self {
            script: script.clone(),
            devices: 1,
            footprint: Footprint {
                circuit: 1000,
                witness: 10,
                parameters: 900,
            },
            fallback: None,
        };
        (fake, script)
    }
}

fn panic_if(wish: &Wish, stage: &str) {
    assert!(wish.panic != stage, "as the test wishes, in {stage}");
}

impl Pipeline for Fake {
    type Statement = Wish;
    type Circuit = CircuitId;
    type Key = usize;
    type Witness = (Wish, usize);
    type Proof = FakeProof;
    type Verified = Vec<u8>;

    fn decode(&self, request: &ProofRequest) -> Result<Decoded<Wish>, RequestError> {
        let text = String::from_utf8_lossy(&request.vanilla_proofs[0]).into_owned();
        let words: HashMap<&str, &str> =
            text.split(' ').filter_map(|w| w.split_once('=')).collect();
        let word = |key| words.get(key).copied().unwrap_or("");
        let wish = Wish {
            name: word("name").into(),
            partitions: word("partitions").parse().unwrap_or(1),
            panic: word("panic").into(),
        };
        if wish.name.is_empty() {
            return Err(RequestError::new("vanilla_proofs[0]", "no name", "a name"));
        }
        panic_if(&wish, "decode");
        self.script.decoded.lock().unwrap().push(wish.name.clone());
        let size = SectorSize::from_bytes(request.sector_size)
            .ok_or_else(|| RequestError::new("sector_size", request.sector_size, "2048"))?;
        Ok(Decoded {
            circuit: CircuitId::new(request.kind, size),
            partitions: wish.partitions,
            bytes: 100,
            statement: wish,
        })
    }

    fn footprint(&self, _circuit: CircuitId) -> Result<Footprint, String> {
        Ok(self.footprint)
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        let device = |d| DeviceInfo {
            name: format!("fake-{d}"),
            memory_total: 1,
            memory_free: 1,
            fallback: self.fallback == Some(d),
        };
        (0..self.devices).map(device).collect()
    }

    fn self_test(&self, device: usize) -> Result<(), String> {
        let is = |devices: &Mutex<Vec<usize>>| devices.lock().unwrap().contains(&device);
        match (is(&self.script.sick), is(&self.script.lost)) {
            (true, _) => Err("sick".into()),
            (_, true) => Err("lost".into()),
            _ => Ok(()),
        }
    }

    fn open(&self, circuit: CircuitId) -> Result<Opened<CircuitId>, String> {
        match self.script.open_error.lock().unwrap().clone() {
            Some(error) => Err(error),
            None => {
                let late = self.script.late_check.lock().unwrap().take();
                Ok(Opened {
                    circuit,
                    insecure: true,
                    check: late.map(|found| LateCheck::new(move || found.recv().unwrap())),
                })
            }
        }
    }

    fn load(
        &self,
        device: usize,
        _circuit: &CircuitId,
        grant: &HostGrant<'_>,
    ) -> Result<usize, String> {
        match *self.script.stream_bytes.lock().unwrap() {
            0 => Ok(device),
            bytes => grant(bytes).map(|()| device),
        }
    }

    fn placement(_key: &usize) -> Option<Placement> {
        Some(Placement {
            resident: vec!["L", "B in G2"],
            streamed: vec!["H", "A", "B in G1"],
            resident_bytes: 5,
            streamed_bytes: 6,
            scratch_bytes: 7,
            memory_cap_bytes: Some(20),
        })
    }

    fn witness(&self, wish: &Wish, k: usize, _: &CircuitId) -> Result<(Wish, usize), String> {
        panic_if(wish, "witness");
        Ok((wish.clone(), k))
    }

    fn prove(
        &self,
        device: usize,
        key: &usize,
        (wish, k): &(Wish, usize),
    ) -> Result<FakeProof, ProveFault> {
        assert_eq!(device, *key, "a key is used on its own device");
        let entry = format!("{}/{k}@{device}", wish.name);
        self.script.proved.lock().unwrap().push(entry);
        self.script.pass_gate();
        panic_if(wish, "prove");
        if self.script.lost.lock().unwrap().contains(&device) {
            let cause = "CUDA error 999 (fallen off the bus)";
            return Err(ProveFault::Broken(cause.into()));
        }
        if let Some(left) = self.script.faults.lock().unwrap().get_mut(&device)
            && *left > 0
        {
            *left -= 1;
            return Err(ProveFault::Device("out of device memory".into()));
        }
        Ok(FakeProof { device })
    }

    fn verify(
        &self,
        wish: &Wish,
        _circuit: &CircuitId,
        proofs: &[FakeProof],
    ) -> Result<Vec<u8>, String> {
        panic_if(wish, "verify");
        let wrong = self.script.wrong.lock().unwrap();
        if proofs.iter().any(|p| wrong.contains(&p.device)) {
            return Err("pairing equation does not hold".into());
        }
        let short = *self.script.short_proofs.lock().unwrap();
        let length = if short { 0 } else { proofs.len() * PROOF_BYTES };
        let mut bytes = wish.name.clone().into_bytes();
        bytes.resize(length, 0);
        Ok(bytes)
    }

    fn bytes(verified: &Vec<u8>) -> Vec<u8> {
        verified.clone()
    }
}

pub(crate) fn settings(dir: &Path) -> Settings {
    Settings {
        limits: Limits::default(),
        memory_bytes: 1 << 20,
        eviction_min_idle: Duration::ZERO,
        cpu_threads: 2,
        journal_dir: dir.join("journal"),
    }
}

pub(crate) fn request(kind: ProofKind, text: &str) -> ProofRequest {
    ProofRequest {
        sector_size: 2048,
        vanilla_proofs: vec![text.into()],
        ..ProofRequest::new(kind)
    }
}

pub(crate) fn submission(kind: ProofKind, id: &str, text: &str) -> Submission {
    Submission {
        request_id: id.into(),
        priority: None,
        request: request(kind, text),
    }
}

/// A PoRep of normal priority with its name as request id.
pub(crate) fn porep(name: &str, partitions: usize) -> Submission {
    let text = format!("name={name} partitions={partitions}");
    submission(ProofKind::PoRep, name, &text)
}

pub(crate) fn with_priority(mut submission: Submission, priority: Priority) -> Submission {
    submission.priority = Some(priority);
    submission
}

pub(crate) fn submit(engine: &Engine<Fake>, submission: Submission) -> JobId {
    engine.submit(submission).expect("is accepted").job_id
}

/// Waits for a job's end; a test that hangs fails here.
pub(crate) fn outcome(engine: &Engine<Fake>, job: JobId) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let waited = runtime.block_on(engine.wait(job, Some(Duration::from_secs(30))));
    match waited.expect("the job is known") {
        Waited::Ended(finished) => finished.outcome.clone(),
        Waited::TimedOut => panic!("job {job} did not end: {:#?}", engine.status().pipelines),
    }
}

pub(crate) fn completed(engine: &Engine<Fake>, job: JobId) -> Vec<u8> {
    match outcome(engine, job) {
        Outcome::Completed { proof } => proof,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn failed(engine: &Engine<Fake>, job: JobId) -> String {
    match outcome(engine, job) {
        Outcome::Failed { cause } => cause,
        other => panic!("{other:?}"),
    }
}

/// Waits until the engine's picture is as wished.
pub(crate) fn until(engine: &Engine<Fake>, what: &str, wished: impl Fn(&Status) -> bool) {
    let begun = Instant::now();
    while !wished(&engine.status()) {
        let status = engine.status();
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{what}: {status:#?}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a job has a partition in this state.
pub(crate) fn partition_is(status: &Status, job: JobId, state: &str) -> bool {
    let job = status.pipelines.iter().find(|j| j.job_id == job);
    job.is_some_and(|j| j.partitions.iter().any(|p| p.state == state))
}
