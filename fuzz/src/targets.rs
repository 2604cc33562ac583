//! What each fuzz target does with its bytes, and the corpus to start from.
//!
//! A target answers whether the bytes were accepted; whatever they are, nothing may panic, and what was accepted must
//! be good for use. The tests of `cuzk-filecoin` include this file and run every target on damaged seeds with the
//! stable compiler; with a nightly one and cargo-fuzz, `scripts/fuzz.sh` runs them under libFuzzer.

use std::path::Path;

use crate::fixtures;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use cuzk_filecoin::{ProofKind, ProofRequest, Statement};
use cuzk_groth16::{NoProgress, ParameterFile, Proof, VerifyingKey, setup};
use cuzk_r1cs::{Matrix, R1cs, Scalar, Witness};

/// Name, body and first corpus of a target.
pub type Target = (&'static str, fn(&[u8]) -> bool, Vec<Vec<u8>>);

/// All targets.
pub fn targets() -> Vec<Target> {
    let keys = Keys::make();
    let inner = porep_inner();
    let Keys {
        params,
        vk,
        proof,
        circuit,
    } = keys;
    vec![
        ("porep", porep, vec![fixtures::porep_envelope(), inner]),
        ("snap", snap, vec![snap_seed()]),
        ("wpost", wpost, post_seeds(fixtures::window_request())),
        ("winning", winning, post_seeds(fixtures::winning_request())),
        ("proof", self::proof, vec![proof]),
        ("vk", self::vk, vec![vk]),
        ("params", self::params, vec![params]),
        ("r1cs", r1cs, vec![circuit]),
    ]
}

/// A C1 output, in its envelope or bare.
pub fn porep(bytes: &[u8]) -> bool {
    decodes(&ProofRequest {
        // What a bare output leaves to the request; a miner that is not named would be searched for.
        sector_number: 1,
        miner_id: 9,
        vanilla_proofs: vec![bytes.into()],
        ..ProofRequest::new(ProofKind::PoRep)
    })
}

/// Number of the registered proof (one byte), the three commitments, and a vanilla proof for each of the partitions.
pub fn snap(bytes: &[u8]) -> bool {
    const PARTITIONS: [usize; 5] = [1, 4, 16, 16, 16];
    let Some((head, proof)) = bytes.split_first_chunk::<97>() else {
        return false;
    };
    let size = usize::from(head[0]);
    decodes(&ProofRequest {
        registered_proof: head[0].into(),
        comm_r_old: head[1..33].into(),
        comm_r_new: head[33..65].into(),
        comm_d_new: head[65..].into(),
        vanilla_proofs: vec![proof.into(); PARTITIONS.get(size).copied().unwrap_or(1)],
        ..ProofRequest::new(ProofKind::SnapDeals)
    })
}

/// Number of the registered proof (one byte), the randomness, and the vanilla proof of one sector.
pub fn wpost(bytes: &[u8]) -> bool {
    post(ProofKind::WindowPoSt, bytes)
}

/// The same for WinningPoSt.
pub fn winning(bytes: &[u8]) -> bool {
    post(ProofKind::WinningPoSt, bytes)
}

fn post(kind: ProofKind, bytes: &[u8]) -> bool {
    let Some((head, proof)) = bytes.split_first_chunk::<33>() else {
        return false;
    };
    decodes(&ProofRequest {
        registered_proof: head[0].into(),
        randomness: head[1..].into(),
        vanilla_proofs: vec![proof.into()],
        ..ProofRequest::new(kind)
    })
}

fn decodes(request: &ProofRequest) -> bool {
    let Ok(statement) = Statement::decode(request) else {
        return false;
    };
    for k in 0..statement.num_partitions() {
        statement
            .public_inputs(k)
            .expect("a statement has public inputs");
    }
    true
}

/// A proof of one partition.
pub fn proof(bytes: &[u8]) -> bool {
    let Ok(proof) = Proof::from_bytes(bytes) else {
        return false;
    };
    assert_eq!(proof.to_bytes(), bytes);
    true
}

/// A verifying key.
pub fn vk(bytes: &[u8]) -> bool {
    with_file(bytes, |path| {
        let Ok(key) = VerifyingKey::read_from(path) else {
            return false;
        };
        assert_eq!(key.to_bytes(), bytes);
        true
    })
}

/// A parameter file, every point of it checked.
pub fn params(bytes: &[u8]) -> bool {
    with_file(bytes, |path| {
        ParameterFile::open(path).is_ok_and(|file| file.check_points(&NoProgress).is_ok())
    })
}

/// A stored circuit, as it is and with the right checksum.
pub fn r1cs(bytes: &[u8]) -> bool {
    /// The header, up to and with the checksum of what follows.
    const HEADER: usize = 56;
    if bytes.len() >= HEADER {
        let mut sealed = bytes.to_vec();
        let (header, body) = sealed.split_at_mut(HEADER);
        let hash = blake2b_simd::blake2bp::Params::new()
            .hash_length(32)
            .hash(body);
        header[..8].copy_from_slice(b"cuzkr1cs");
        header[8..16].copy_from_slice(&1u64.to_le_bytes());
        header[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
        header[24..].copy_from_slice(hash.as_bytes());
        circuit(&sealed);
    }
    circuit(bytes)
}

fn circuit(bytes: &[u8]) -> bool {
    /// Larger circuits take time, not more of the reader's paths.
    const MAX_SIZE: usize = 1 << 16;
    let Ok(circuit) = R1cs::from_bytes(bytes) else {
        return false;
    };
    assert_eq!(circuit.to_bytes(), bytes);
    if circuit.num_rows().max(circuit.num_aux()) > MAX_SIZE {
        return true;
    }
    let witness = Witness::new(circuit.layout().clone());
    let mut out = vec![Scalar::default(); circuit.num_rows()];
    for matrix in Matrix::ALL {
        circuit.evaluate(matrix, &witness, &mut out);
        circuit.combine_rows(matrix, &out);
    }
    // Whether it is satisfied is of no matter.
    let _ = circuit.check(&witness);
    true
}

fn with_file(bytes: &[u8], check: impl FnOnce(&Path) -> bool) -> bool {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("written");
    check(file.path())
}

/// The C1 output without its envelope.
fn porep_inner() -> Vec<u8> {
    let envelope = String::from_utf8(fixtures::porep_envelope()).expect("text");
    let inner = envelope.split('"').max_by_key(|part| part.len());
    decode_base64(inner.expect("the longest string"))
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |c: u8| DIGITS.iter().position(|d| *d == c);
    let digits: Vec<usize> = text.bytes().map_while(digit).collect();
    let bytes = digits.chunks(4).flat_map(|chunk| {
        let bits = chunk.iter().fold(0, |bits, digit| bits << 6 | digit);
        let bits = bits << (6 * (4 - chunk.len()));
        (0..chunk.len() - 1).map(move |i| (bits >> (16 - 8 * i)) as u8)
    });
    bytes.collect()
}

fn snap_seed() -> Vec<u8> {
    let request = fixtures::snap_request();
    let fields = [
        &request.comm_r_old,
        &request.comm_r_new,
        &request.comm_d_new,
        &request.vanilla_proofs[0],
    ];
    let number = request.registered_proof as u8;
    [&[number][..]]
        .into_iter()
        .chain(fields.map(Vec::as_slice))
        .flatten()
        .copied()
        .collect()
}

/// One seed for each sector that is challenged as if it were the first.
fn post_seeds(request: ProofRequest) -> Vec<Vec<u8>> {
    let head = [
        &[request.registered_proof as u8],
        request.randomness.as_slice(),
    ]
    .concat();
    let proofs = request.vanilla_proofs.iter();
    proofs
        .map(|proof| [head.as_slice(), proof].concat())
        .collect()
}

/// Small files of what is not Filecoin's.
struct Keys {
    params: Vec<u8>,
    vk: Vec<u8>,
    proof: Vec<u8>,
    circuit: Vec<u8>,
}

impl Keys {
    fn make() -> Self {
        let circuit = cuzk_r1cs::compile(cube).expect("a circuit");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (params, vk) = (folder.path().join("params"), folder.path().join("vk"));
        setup::write_files(&circuit, &params, &vk, Some(1), &NoProgress).expect("a setup");
        let key = VerifyingKey::read_from(&vk).expect("a verifying key");
        let proof = Proof {
            a: key.alpha_g1,
            b: key.beta_g2,
            c: key.delta_g1,
        };
        let read = |path| std::fs::read(path).expect("a file just written");
        Self {
            params: read(params),
            vk: read(vk),
            proof: proof.to_bytes().into(),
            circuit: circuit.to_bytes(),
        }
    }
}

/// x³ = y, with y public.
fn cube<CS: ConstraintSystem<Scalar>>(cs: &mut CS) -> Result<(), SynthesisError> {
    let missing = || Err(SynthesisError::AssignmentMissing);
    let y = cs.alloc_input(|| "y", missing)?;
    let x = cs.alloc(|| "x", missing)?;
    let square = cs.alloc(|| "x squared", missing)?;
    cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
    cs.enforce(|| "cube", |lc| lc + square, |lc| lc + x, |lc| lc + y);
    Ok(())
}
