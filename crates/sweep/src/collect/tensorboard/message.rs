//! The few fields of protocol buffers that a scalar needs.
//!
//! ```text
//! Event          2 step (varint), 5 summary (Summary)
//! Summary        1 value (Value), repeated
//! Value          1 tag, 2 simple_value (float), 8 tensor (TensorProto)
//! TensorProto    1 dtype (1 float, 2 double), 4 tensor_content, 5 float_val, 6 double_val
//! ```
//!
//! PyTorch and TensorFlow 1 write `simple_value`, TensorFlow 2 a tensor of one element. Everything
//! else (histograms, images, text, the file's version) has fields that are walked over.

/// What an event holds of scalars.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Event {
    pub(super) step: i64,
    /// Tag and value.
    pub(super) scalars: Vec<(String, f64)>,
}

/// A field's content.
#[derive(Clone, Copy)]
enum Content<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

/// Reads an event; `None` when the bytes are no message.
pub(super) fn event(bytes: &[u8]) -> Option<Event> {
    let mut event = Event::default();
    for field in fields(bytes) {
        match field? {
            // A negative number is a varint of its two's complement.
            (2, Content::Varint(step)) => event.step = step as i64,
            (5, Content::Bytes(summary)) => {
                for field in fields(summary) {
                    if let (1, Content::Bytes(value)) = field? {
                        event.scalars.extend(scalar(value)?);
                    }
                }
            }
            _ => {}
        }
    }
    Some(event)
}

/// The scalar of a value, where it holds one; outer `None`: no message.
fn scalar(bytes: &[u8]) -> Option<Option<(String, f64)>> {
    let (mut tag, mut number) = (None, None);
    for field in fields(bytes) {
        match field? {
            (1, Content::Bytes(name)) => tag = Some(std::str::from_utf8(name).ok()?.to_owned()),
            (2, Content::Fixed32(value)) => number = Some(f64::from(f32::from_le_bytes(value))),
            (8, Content::Bytes(tensor)) => number = element(tensor)?,
            _ => {}
        }
    }
    Some(tag.zip(number))
}

/// The one element of a tensor of floats or doubles; inner `None`: it is something else.
fn element(bytes: &[u8]) -> Option<Option<f64>> {
    let (mut double, mut found) = (false, Vec::new());
    let mut content: &[u8] = &[];
    let single = |bytes: &[u8]| -> Vec<f64> {
        bytes
            .chunks_exact(4)
            .filter_map(|b| Some(f64::from(f32::from_le_bytes(b.try_into().ok()?))))
            .collect()
    };
    let twice = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(8).filter_map(|b| Some(f64::from_le_bytes(b.try_into().ok()?))).collect()
    };
    let mut known = true;
    for field in fields(bytes) {
        match field? {
            (1, Content::Varint(kind)) => (double, known) = (kind == 2, kind == 1 || kind == 2),
            (4, Content::Bytes(bytes)) => content = bytes,
            (5, Content::Bytes(packed)) => found.extend(single(packed)),
            (5, Content::Fixed32(one)) => found.extend(single(&one)),
            (6, Content::Bytes(packed)) => found.extend(twice(packed)),
            (6, Content::Fixed64(one)) => found.extend(twice(&one)),
            _ => {}
        }
    }
    if found.is_empty() {
        found = if double { twice(content) } else { single(content) };
    }
    Some(match found.as_slice() {
        [one] if known => Some(*one),
        _ => None,
    })
}

/// The fields of a message in order; an item `None` where it is none, and nothing behind that.
fn fields(bytes: &[u8]) -> impl Iterator<Item = Option<(u64, Content<'_>)>> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest.filter(|bytes| !bytes.is_empty())?;
        let read = field(bytes);
        rest = read.map(|(_, rest)| rest);
        Some(read.map(|(field, _)| field))
    })
}

fn field(bytes: &[u8]) -> Option<((u64, Content<'_>), &[u8])> {
    let (key, rest) = varint(bytes)?;
    let (content, rest) = match key & 7 {
        0 => {
            let (number, rest) = varint(rest)?;
            (Content::Varint(number), rest)
        }
        1 => (Content::Fixed64(*rest.first_chunk()?), rest.get(8..)?),
        2 => {
            let (length, rest) = varint(rest)?;
            let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Content::Bytes(bytes), rest)
        }
        5 => (Content::Fixed32(*rest.first_chunk()?), rest.get(4..)?),
        _ => return None,
    };
    Some(((key >> 3, content), rest))
}

/// Seven bits a byte, the lowest first; the eighth says that another follows.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, content.len() as u8], content].concat()
    }

    fn of_value(value: &[u8]) -> Option<Event> {
        event(&[&[0x10, 0xac, 0x02][..], &bytes(5, &bytes(1, value))].concat())
    }

    #[test]
    fn scalars_of_every_shape() {
        let simple = [bytes(1, b"loss"), [&[0x15][..], &1.5_f32.to_le_bytes()].concat()].concat();
        let expected = |value| Some(Event { step: 300, scalars: vec![("loss".to_owned(), value)] });
        assert_eq!(of_value(&simple), expected(1.5));
        let tensor = |kind: u8, field: u8, content: &[u8]| {
            [bytes(1, b"loss"), bytes(8, &[&[0x08, kind][..], &bytes(field, content)].concat())]
                .concat()
        };
        assert_eq!(of_value(&tensor(1, 5, &2.5_f32.to_le_bytes())), expected(2.5));
        assert_eq!(of_value(&tensor(1, 4, &2.5_f32.to_le_bytes())), expected(2.5));
        assert_eq!(of_value(&tensor(2, 6, &0.1_f64.to_le_bytes())), expected(0.1));
        assert_eq!(of_value(&tensor(2, 4, &0.1_f64.to_le_bytes())), expected(0.1));
        // Two elements, or integers, are no scalar; the event is one all the same.
        let none = Some(Event { step: 300, scalars: vec![] });
        assert_eq!(of_value(&tensor(1, 5, &[0; 8])), none);
        assert_eq!(of_value(&tensor(3, 4, &[1, 0, 0, 0])), none);
        assert_eq!(of_value(&bytes(1, b"histogram")), none);
    }

    #[test]
    fn what_is_no_message_is_none_and_nothing_panics() {
        for wrong in [&[0x10][..], &[0x2a, 5, 1], &[0x0b], &[0x80; 11], &[0x0d, 1, 2]] {
            assert_eq!(event(wrong), None, "{wrong:?}");
        }
        assert_eq!(event(&[]), Some(Event::default()));
        for length in 0..64_usize {
            let noise: Vec<u8> = (0..length).map(|at| (at * 73 + length * 31) as u8).collect();
            event(&noise);
        }
    }
}
