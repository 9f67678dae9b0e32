//! How one run of bytes becomes what a reader is given: a choice, or several files.

/// Between the files of an input that has several.
pub const BETWEEN: &[u8] = b"\n=====\n";

/// The first byte as a choice among `count`, and the rest; seeds write the choice as a digit, so
/// that they can be read.
pub fn choice(data: &[u8], count: usize) -> Option<(usize, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((usize::from(first.wrapping_sub(b'0')) % count, rest))
}

/// Exactly `N` files; the last takes whatever is left, those that are missing are empty.
pub fn files<const N: usize>(mut data: &[u8]) -> [&[u8]; N] {
    let mut found = [&data[..0]; N];
    for (number, file) in found.iter_mut().enumerate() {
        let end = data.windows(BETWEEN.len()).position(|here| here == BETWEEN);
        match end.filter(|_| number + 1 < N) {
            Some(end) => (*file, data) = (&data[..end], &data[end + BETWEEN.len()..]),
            None => (*file, data) = (data, &data[data.len()..]),
        }
    }
    found
}

/// The same, for seeds.
pub fn join(files: &[&[u8]]) -> Vec<u8> {
    files.join(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_as_they_were_joined() {
        let [a, b] = files(b"one\n=====\ntwo\n=====\nthree");
        assert_eq!((a, b), (&b"one"[..], &b"two\n=====\nthree"[..]));
        let [a, b, c] = files(b"one");
        assert_eq!((a, b, c), (&b"one"[..], &b""[..], &b""[..]));
        assert_eq!(files::<2>(&join(&[b"x", b"y"])), [&b"x"[..], b"y"]);
    }

    #[test]
    fn a_choice_is_a_digit_or_any_byte() {
        assert_eq!(choice(b"1ab", 3), Some((1, &b"ab"[..])));
        assert!(choice(b"\xff", 3).is_some_and(|(at, _)| at < 3));
        assert_eq!(choice(b"", 3), None);
    }
}
