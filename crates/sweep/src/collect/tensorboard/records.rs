//! The framing of event files (TFRecord): no index and no end mark, so a file can be read while it
//! grows.
//!
//! ```text
//! length       u64, little-endian
//! checksum     u32: masked CRC-32C of the eight bytes of the length
//! bytes        `length` of them
//! checksum     u32: masked CRC-32C of the bytes
//! ```
//!
//! The mask is `rotate_right(crc, 15) + 0xa282ead8`: a checksum over bytes that hold checksums
//! would be weak without it.

/// Bytes before and behind a record's own.
const HEADER: usize = 12;
const FOOTER: usize = 4;

/// The records of a file, one after another.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    torn: bool,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, torn: false }
    }

    /// Whether the file ended inside a record: its writer is at work, or was killed.
    pub(super) fn torn(&self) -> bool {
        self.torn
    }
}

impl<'a> Iterator for Records<'a> {
    /// Where a record begins, and its bytes; or where and why it is none. After that nothing can be
    /// read, as nothing says where the next begins.
    type Item = Result<(usize, &'a [u8]), (usize, &'static str)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, rest) = (self.at, self.bytes.get(self.at..)?);
        if rest.is_empty() {
            return None;
        }
        let (Some(length), Some(sum)) = (rest.first_chunk::<8>(), word(rest, 8)) else {
            self.torn = true;
            return None;
        };
        if sum != masked_crc(length) {
            self.at = usize::MAX;
            return Some(Err((
                start,
                "the checksum of a record's length is wrong; the file is damaged or no event file",
            )));
        }
        let end = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .and_then(|length| length.checked_add(HEADER));
        let (Some(record), Some(sum)) =
            (end.and_then(|end| rest.get(HEADER..end)), end.and_then(|end| word(rest, end)))
        else {
            self.torn = true;
            return None;
        };
        if sum != masked_crc(record) {
            self.at = usize::MAX;
            return Some(Err((start, "the checksum of a record is wrong; the file is damaged")));
        }
        self.at = start + HEADER + record.len() + FOOTER;
        Some(Ok((start, record)))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), polynomial 0x1EDC6F41, bits reflected.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut sum = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                sum = if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 };
                bit += 1;
            }
            table[byte] = sum;
            byte += 1;
        }
        table
    };
    !bytes
        .iter()
        .fold(!0, |sum: u32, &byte| (sum >> 8) ^ TABLE[((sum ^ u32::from(byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of RFC 3720, B.4, and of "123456789".
    #[test]
    fn crc32c_of_the_published_examples() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&ascending), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    fn framed(record: &[u8]) -> Vec<u8> {
        let length = (record.len() as u64).to_le_bytes();
        [&length[..], &masked_crc(&length).to_le_bytes(), record, &masked_crc(record).to_le_bytes()]
            .concat()
    }

    #[test]
    fn a_torn_end_is_normal_and_a_wrong_bit_is_not() {
        let whole = [framed(b"one"), framed(b""), framed(b"three")].concat();
        let read = |bytes: &[u8]| {
            let mut records = Records::new(bytes);
            let found: Vec<Vec<u8>> =
                records.by_ref().map_while(Result::ok).map(|(_, record)| record.to_vec()).collect();
            (found.len(), records.torn())
        };
        assert_eq!(read(&whole), (3, false));
        for cut in framed(b"one").len() + framed(b"").len() + 1..whole.len() {
            assert_eq!(read(&whole[..cut]), (2, true), "{cut}");
        }
        for bit in 0..8 * whole.len() {
            let mut spoilt = whole.clone();
            spoilt[bit / 8] ^= 1 << (bit % 8);
            assert!(Records::new(&spoilt).any(|record| record.is_err()), "bit {bit}");
            assert!(Records::new(&spoilt).count() <= 3);
        }
        // A length beyond all memory, with a good checksum.
        let length = u64::MAX.to_le_bytes();
        assert_eq!(
            read(&[&length[..], &masked_crc(&length).to_le_bytes(), b"x"].concat()),
            (0, true)
        );
    }
}
