//! Embeds features with their snapshots and fixtures in release builds, so that the command needs nothing beside
//! itself.
//!
//! Development builds read them from the source tree, so that a new feature file costs no compilation.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    if env::var("PROFILE").as_deref() == Ok("release") {
        // Of the fixtures, those that features name.
        for directory in ["features", "snapshots", "fixtures/shutdown", "fixtures/volumes"] {
            println!("cargo::rerun-if-changed={directory}");
            find(&root.join(directory), &mut files)?;
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).expect("found below the root").to_string_lossy().replace('\\', "/");
        writeln!(list, "    ({name:?}, include_bytes!({:?})),", file.to_string_lossy()).expect("writes to memory");
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("embedded.rs"), list)
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "feature" || extension == "snap")
            || path.extension().is_some_and(|extension| extension == "yaml")
        {
            files.push(path);
        }
    }
    Ok(())
}
