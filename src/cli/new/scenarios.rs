//! Every scenario below `features/` is a trial of `cargo test`.

fn main() -> std::process::ExitCode {
    nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).main()
}
