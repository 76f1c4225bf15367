//! The name under which programs load the library, and the functions that they see.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=exports.map");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnetcdf.so.19");
        // Other crates have functions for C, too; only those of this one are exported.
        if is_linked_by_zig() {
            // Zig does not know `--exclude-libs`. Of several version scripts it uses the last one; GNU ld rejects a second one.
            let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
            println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={folder}/exports.map");
        } else {
            println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
        }
    }
}

/// The linker is a script of cargo-zigbuild, such as `zigcc-x86_64-unknown-linux-gnu.2.28-a1b2.sh`.
fn is_linked_by_zig() -> bool {
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_default();
    let name = std::path::Path::new(&linker).file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("zigcc")
}
