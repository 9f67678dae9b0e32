//! `pytorch_model.bin`: what is read, what is refused, and that nothing spoilt makes the reader
//! panic or swell.

mod support;

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use relscale_decoder::Error;
use relscale_decoder::checkpoint::pickle::PickleError;
use relscale_decoder::checkpoint::{Checkpoint, StoredType};
use support::case;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// A folder whose `pytorch_model.bin` has this pickle and one storage of four f32: 0, 1, 2, 3.
fn archive(pickle: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("pytorch_model.bin")).unwrap();
    let mut zip = zip::ZipWriter::new(file);
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let numbers: Vec<u8> = (0..4).flat_map(|n| (n as f32).to_le_bytes()).collect();
    for (name, bytes) in [("m/data.pkl", pickle), ("m/data/0", &numbers)] {
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    folder
}

/// The pickle of `{"w": tensor}`: storage 0 of `kind` with `elements`, seen from `offset` as
/// `shape` by `strides`.
fn tensor(kind: &str, elements: i32, offset: i32, shape: &[i32], strides: &[i32]) -> Vec<u8> {
    let int = |n: i32| [&b"J"[..], &n.to_le_bytes()].concat();
    let text = |t: &str| [&b"X"[..], &(t.len() as u32).to_le_bytes(), t.as_bytes()].concat();
    let tuple = |ns: &[i32]| {
        [b"(".to_vec(), ns.iter().flat_map(|n| int(*n)).collect(), b"t".to_vec()].concat()
    };
    [
        b"\x80\x02}".to_vec(),
        text("w"),
        b"ctorch._utils\n_rebuild_tensor_v2\n((".to_vec(),
        text("storage"),
        format!("ctorch\n{kind}\n").into_bytes(),
        text("0"),
        text("cpu"),
        int(elements),
        b"tQ".to_vec(),
        int(offset),
        tuple(shape),
        tuple(strides),
        b"\x89ccollections\nOrderedDict\n)RtRs.".to_vec(),
    ]
    .concat()
}

fn refusal(folder: &Path) -> PickleError {
    match Checkpoint::open(folder) {
        Err(Error::Pickle { source, .. }) => source,
        other => panic!("not refused as a pickle: {other:?}"),
    }
}

fn read(folder: &Path, tensor: &str) -> Vec<f32> {
    let mut out = Vec::new();
    let checkpoint = Checkpoint::open(folder).unwrap();
    checkpoint.read_into(tensor, &mut out).unwrap();
    // A matrix that is read row by row, or column by column, has the same numbers.
    if let Some(&[rows, columns]) = checkpoint.shape(tensor) {
        assert_eq!(checkpoint.rows(tensor).unwrap().all().unwrap(), out);
        let turned: Vec<f32> =
            (0..columns * rows).map(|i| out[i % rows * columns + i / rows]).collect();
        assert_eq!(checkpoint.columns(tensor).unwrap().all().unwrap(), turned);
    }
    out
}

#[test]
fn views_offsets_and_transposes() {
    for (offset, shape, strides, expected) in [
        (0, vec![4], vec![1], vec![0.0, 1.0, 2.0, 3.0]),
        (1, vec![3], vec![1], vec![1.0, 2.0, 3.0]),
        (0, vec![2, 2], vec![1, 2], vec![0.0, 2.0, 1.0, 3.0]),
        (1, vec![2], vec![2], vec![1.0, 3.0]),
        (2, vec![2, 2], vec![0, 1], vec![2.0, 3.0, 2.0, 3.0]),
        (1, vec![1, 2], vec![7, 2], vec![1.0, 3.0]),
        (3, vec![], vec![], vec![3.0]),
        (9, vec![0], vec![1], vec![]),
    ] {
        let folder = archive(&tensor("FloatStorage", 4, offset, &shape, &strides));
        assert_eq!(read(folder.path(), "w"), expected, "{offset} {shape:?} {strides:?}");
    }
}

#[test]
fn nothing_is_executed() {
    // What a hostile file does: call os.system.
    let folder = archive(b"\x80\x02cposix\nsystem\nX\x04\0\0\0true\x85R.");
    assert!(
        matches!(refusal(folder.path()), PickleError::Global { name } if name == "posix.system")
    );
    for global in [
        "builtins\neval",
        "torch._utils\n_rebuild_qtensor",
        "torch\nQInt8Storage",
        "numpy\nndarray",
    ] {
        let folder = archive(format!("c{global}\n.").as_bytes());
        let error = refusal(folder.path());
        assert!(
            matches!(&error, PickleError::Global { name } if *name == global.replace('\n', ".")),
            "{error}"
        );
    }
}

#[test]
fn instructions_beyond_a_state_dict_are_refused_by_name() {
    for (code, name) in
        [(b'i', "INST"), (b'o', "OBJ"), (0x81, "NEWOBJ"), (b'P', "PERSID"), (0xff, "0xff")]
    {
        let folder = archive(&[0x80, 2, code]);
        let error = refusal(folder.path());
        assert!(
            matches!(&error, PickleError::Instruction { name: n, offset: 2 } if n == name),
            "{error}"
        );
    }
}

/// candle: unknown storage types were skipped.
#[test]
fn a_known_type_that_is_not_needed_is_listed_and_never_turned_into_numbers() {
    let folder = archive(&tensor("IntStorage", 4, 0, &[4], &[1]));
    let checkpoint = Checkpoint::open(folder.path()).unwrap();
    assert!(matches!(checkpoint.stored_type("w"), Some(StoredType::Other("i32", 4))));
    let error = checkpoint.read_into("w", &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("tensor w") && error.contains("i32"), "{error}");
    let loaded = relscale_decoder::families::load(&case("llama-bin-awkward"), Default::default());
    assert_eq!(loaded.unwrap().info.unused, ["attn.counter"]);
}

#[test]
fn a_tensor_must_lie_in_its_storage_and_the_storage_in_the_file() {
    let big = i32::MAX;
    for (kind, elements, offset, shape, strides) in [
        ("FloatStorage", 4, 0, vec![5], vec![1]),
        ("FloatStorage", 4, 1, vec![4], vec![1]),
        ("FloatStorage", 4, 0, vec![2, 2], vec![3, 1]),
        ("FloatStorage", 4, 4, vec![1], vec![1]),
        ("FloatStorage", 4, 0, vec![2, 2], vec![1]),
        ("FloatStorage", 4, 0, vec![big, big, big], vec![big, big, big]),
        ("FloatStorage", 4, 0, vec![1 << 30], vec![0]), // four numbers blown up to 2^30
        ("FloatStorage", 3, 0, vec![2], vec![1]),
        ("FloatStorage", big, 0, vec![big], vec![1]),
        ("DoubleStorage", 4, 0, vec![4], vec![1]),
    ] {
        let folder = archive(&tensor(kind, elements, offset, &shape, &strides));
        let error = refusal(folder.path());
        assert!(
            matches!(error, PickleError::Bounds { ref tensor, .. } if tensor == "w"),
            "{error}"
        );
    }
    for (shape, offset) in [(vec![-1], 0), (vec![4], -1)] {
        let folder = archive(&tensor("FloatStorage", 4, offset, &shape, &[1]));
        assert!(matches!(refusal(folder.path()), PickleError::Malformed { .. }));
    }
}

#[test]
fn what_is_no_state_dict_is_named() {
    let folder = archive(b"\x80\x02]."); // a list
    assert!(matches!(refusal(folder.path()), PickleError::NotAStateDict { .. }));
    let folder = archive(b"\x80\x02}X\x05\0\0\0epochK\x03s.");
    let error = refusal(folder.path()).to_string();
    assert!(error.contains("the value of epoch"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pytorch_model.bin"), "version https://git-lfs").unwrap();
    assert!(matches!(refusal(folder.path()), PickleError::NotTorch));
}

#[test]
fn deep_nests_and_cycles_do_no_harm() {
    // Half a million nested one-tuples: more than any recursion would bear.
    let mut deep = b"\x80\x02N".to_vec();
    deep.extend(std::iter::repeat_n(0x85, 500_000));
    deep.push(b'.');
    assert!(matches!(refusal(archive(&deep).path()), PickleError::NotAStateDict { .. }));
    deep.splice(3..3, std::iter::repeat_n(0x85, 100_000));
    assert!(matches!(refusal(archive(&deep).path()), PickleError::TooLarge(_)));
    // A dictionary that holds itself.
    let folder = archive(b"\x80\x02}q\x00X\x01\0\0\0wh\x00s.");
    assert!(matches!(refusal(folder.path()), PickleError::NotAStateDict { .. }));
}

#[test]
fn a_cut_file_is_recognised_wherever_it_was_cut() {
    for name in ["gpt2-bin", "gpt2-bin-legacy", "llama-bin-awkward"] {
        let whole = std::fs::read(case(name).join("pytorch_model.bin")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for part in 0..40 {
            let length = whole.len() * part / 40;
            std::fs::write(folder.path().join("pytorch_model.bin"), &whole[..length]).unwrap();
            assert!(Checkpoint::open(folder.path()).is_err(), "{name} cut to {length}");
        }
    }
}

/// Opens a spoilt file and reads all it claims to have; whatever comes back is an error or numbers
/// within the file.
fn provoke(file: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), bytes).unwrap();
    let Ok(checkpoint) = Checkpoint::open(folder.path()) else { return };
    for tensor in checkpoint.names() {
        let mut out = Vec::new();
        if checkpoint.read_into(tensor, &mut out).is_ok() {
            assert!(out.len() * 2 <= bytes.len());
        }
    }
}

/// Most address space that this process ever asked for, bytes; 0 where the system does not tell.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kilobytes = line.and_then(|l| l.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[derive(Debug, Clone)]
enum Spoil {
    Set(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Cut(prop::sample::Index),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        8 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Spoil::Set(at, byte)),
        1 => any::<prop::sample::Index>().prop_map(Spoil::Remove),
        1 => any::<prop::sample::Index>().prop_map(Spoil::Cut),
    ]
}

fn spoilt(mut bytes: Vec<u8>, spoils: &[Spoil]) -> Vec<u8> {
    for spoil in spoils {
        if bytes.is_empty() {
            break;
        }
        match spoil {
            Spoil::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Spoil::Remove(at) => drop(bytes.remove(at.index(bytes.len()))),
            Spoil::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn spoilt_files_never_panic_nor_swell(spoils in prop::collection::vec(spoil(), 1..6), which in 0..5) {
        let before = peak();
        let (name, file) = [
            ("gpt2-bin", "pytorch_model.bin"),
            ("gpt2-bin-legacy", "pytorch_model.bin"),
            ("llama-bin-awkward", "pytorch_model.bin"),
            ("gpt2", "model.safetensors"),
            ("gpt_neox-buffers", "model.safetensors"),
        ][which as usize];
        let whole = std::fs::read(case(name).join(file)).unwrap();
        provoke(file, &spoilt(whole, &spoils));
        prop_assert!(peak() - before < 1 << 29, "asked for {} bytes", peak() - before);
    }

    /// Most of a file is numbers; here all the damage goes to the pickle, or to the header.
    #[test]
    fn spoilt_directories_never_panic_nor_swell(spoils in prop::collection::vec(spoil(), 1..6)) {
        let before = peak();
        let pickle = tensor("FloatStorage", 4, 0, &[2, 2], &[1, 2]);
        let folder = archive(&spoilt(pickle, &spoils));
        if let Ok(checkpoint) = Checkpoint::open(folder.path()) {
            for name in checkpoint.names() {
                let _ = checkpoint.read_into(name, &mut Vec::new());
            }
        }
        let header = br#"{"w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}"#.to_vec();
        let header = spoilt(header, &spoils);
        let file = [&(header.len() as u64).to_le_bytes()[..], &header, &[0; 12]].concat();
        provoke("model.safetensors", &file);
        prop_assert!(peak() - before < 1 << 29, "asked for {} bytes", peak() - before);
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..600)) {
        provoke("model.safetensors", &noise);
        provoke("pytorch_model.bin", &noise);
        let folder = archive(&noise);
        let _ = Checkpoint::open(folder.path());
        let legacy = [&[0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.'], &noise[..]].concat();
        provoke("pytorch_model.bin", &legacy);
    }
}
