//! The main job and its failures, with a real sector, real parameters, a real daemon and upstream's verifier.

mod bad_parameters;
mod bad_requests;
mod command_line;
mod fixture;
// Sectors that filecoin-proofs-api sealed once, shared with the tests of the decoders.
#[path = "../../../filecoin/tests/suite/fixtures.rs"]
mod fixtures;
mod kinds;
mod main_job;
mod sealed_sectors;
