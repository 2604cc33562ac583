//! Tests against fixtures and against upstream, in one binary: what they link is large.

mod circuits;
mod common;
mod fixtures;
mod fuzz;
mod porep;
mod post;
mod registered;
mod sealing;
mod snap;
mod synthetic;
mod tamper;
