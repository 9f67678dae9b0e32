//! Writes the seeds of all targets into folders, for an engine to begin with:
//! `cargo run --example seeds [FOLDER]`, `corpus` where none is given.

#![allow(clippy::print_stdout)] // a program

use std::path::PathBuf;
use std::{env, fs, io};

use relscale_fuzz::targets::TARGETS;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "corpus".to_owned()));
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        let seeds = (target.seeds)();
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
        println!("{}: {} seeds", target.name, seeds.len());
    }
    Ok(())
}
