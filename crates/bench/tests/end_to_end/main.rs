//! The main job and its failures, with a real sector, real parameters, a real daemon and upstream's verifier.

mod bad_parameters;
mod bad_requests;
mod command_line;
mod fixture;
mod main_job;
