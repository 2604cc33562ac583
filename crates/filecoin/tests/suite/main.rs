//! Tests against fixtures and against upstream, in one binary: what they link is large.

mod circuits;
mod common;
mod fuzz;
mod porep;
mod post;
mod sealing;
mod snap;
mod synthetic;
