//! Every scenario below `features/` is a trial of `cargo test`.
mod steps;
fn main() -> std::process::ExitCode {
    nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).own(steps::own()).main()
}
