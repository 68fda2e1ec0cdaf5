//! The priory program.
fn main() {}
