//! The `cuzk-bench` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuzk_bench::main()
}
