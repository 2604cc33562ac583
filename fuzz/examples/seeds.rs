//! Writes the first corpus of every target: `cargo run --release --example seeds` in this folder.

fn main() -> std::io::Result<()> {
    for (name, body, seeds) in cuzk_fuzz::targets() {
        let folder = std::path::Path::new("corpus").join(name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.iter().enumerate() {
            assert!(body(seed), "seed {number} of {name} is refused");
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
