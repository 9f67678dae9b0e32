//! GGUF files byte by byte, right or wrong as a test wants them.

/// A file under construction: the counts, metadata, the directory, data.
pub struct File {
    pub magic: [u8; 4],
    pub version: u32,
    /// Keys with their values, each as its bytes.
    pub keys: Vec<Vec<u8>>,
    /// Entries of the directory, each as its bytes.
    pub tensors: Vec<Vec<u8>>,
    /// Stands behind the padded header.
    pub data: Vec<u8>,
}

/// A length, and the text.
pub fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// A key with a value of the type of this number.
pub fn key(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(name)[..], &kind.to_le_bytes(), value].concat()
}

/// A tensor: its sizes, its type, where it begins.
pub fn tensor(name: &str, sizes: &[u64], kind: u32, offset: u64) -> Vec<u8> {
    let axes = (sizes.len() as u32).to_le_bytes();
    let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    [&text(name)[..], &axes, &sizes, &kind.to_le_bytes(), &offset.to_le_bytes()].concat()
}

impl File {
    /// One tensor of 32 numbers in f32.
    pub fn new() -> Self {
        Self {
            magic: *b"GGUF",
            version: 3,
            keys: vec![key("general.architecture", 8, &text("llama"))],
            tensors: vec![tensor("a", &[32], 0, 0)],
            data: vec![0; 128],
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let counts = [self.tensors.len() as u64, self.keys.len() as u64];
        self.with_counts(counts)
    }

    /// With these counts of tensors and keys, whatever there is.
    pub fn with_counts(&self, counts: [u64; 2]) -> Vec<u8> {
        let mut bytes = [&self.magic[..], &self.version.to_le_bytes()].concat();
        bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
        bytes.extend(self.keys.concat());
        bytes.extend(self.tensors.concat());
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.data);
        bytes
    }
}

/// A file taken apart.
pub struct Parts {
    /// Keys, each by its name and as its bytes.
    pub keys: Vec<(String, Vec<u8>)>,
    /// How many tensors.
    pub count: u64,
    /// The directory.
    pub tensors: Vec<u8>,
    /// All behind the padding.
    pub data: Vec<u8>,
}

/// Takes apart a file that is right.
pub fn keys(bytes: &[u8]) -> Parts {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let width = |kind: u32| match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        _ => 8,
    };
    let mut at = 24;
    let mut keys = Vec::new();
    for _ in 0..number(16) {
        let start = at;
        let length = number(at) as usize;
        let name = String::from_utf8(bytes[at + 8..at + 8 + length].to_vec()).unwrap();
        at += 8 + length;
        let kind = four(at);
        at += 4;
        match kind {
            8 => at += 8 + number(at) as usize,
            9 => {
                let (kind, count) = (four(at), number(at + 4) as usize);
                at += 12;
                for _ in 0..count {
                    at += if kind == 8 { 8 + number(at) as usize } else { width(kind) };
                }
            }
            _ => at += width(kind),
        }
        keys.push((name, bytes[start..at].to_vec()));
    }
    let directory = at;
    for _ in 0..number(8) {
        at += 8 + number(at) as usize;
        at += 4 + 8 * four(at) as usize + 12;
    }
    let data = bytes[at.next_multiple_of(32)..].to_vec();
    Parts { keys, count: number(8), tensors: bytes[directory..at].to_vec(), data }
}
