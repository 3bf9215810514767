//! Root of the test target `conformance`.

fn main() {}
