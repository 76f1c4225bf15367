//! Prints the page of the functions, `docs/c-library-functions.md`: `cargo run --workspace --example page`.

/// The page, made from the table and from what its tests know to differ.
#[path = "../tests/library/page.rs"]
mod page;

fn main() -> std::io::Result<()> {
    std::io::Write::write_all(&mut std::io::stdout(), page::page().as_bytes())
}
