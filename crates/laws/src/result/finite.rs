//! Whether every number of a result is one. JSON has no NaN and no infinity: what should hold one
//! would hold `null`, and the reader of the file would refuse it, long after it was written.

use std::fmt::Display;

use serde::ser::{self, Serialize};

/// Where in a result a number stands that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoNumber(pub(super) String);

impl ser::Error for NoNumber {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Nothing where all numbers are finite.
///
/// # Errors
/// The first that is not, as `groups.0.laws.3.outcome.exponent.value`.
pub(super) fn check(result: &impl Serialize) -> Result<(), NoNumber> {
    result.serialize(&mut Walk { path: Vec::new() })
}

/// A serializer that keeps nothing but the way to where it is.
struct Walk {
    path: Vec<String>,
}

impl Walk {
    fn at<T: Serialize + ?Sized>(&mut self, name: String, value: &T) -> Result<(), NoNumber> {
        self.path.push(name);
        value.serialize(&mut *self)?;
        self.path.pop();
        Ok(())
    }

    fn number(&self, number: f64) -> Result<(), NoNumber> {
        if number.is_finite() {
            Ok(())
        } else {
            Err(NoNumber(format!("{} is {number}", self.path.join("."))))
        }
    }
}

/// The members of a sequence, a map or a structure, one after another.
struct Members<'a> {
    walk: &'a mut Walk,
    count: usize,
    /// Of a map, the name of the next member.
    key: String,
}

impl<'a> Members<'a> {
    fn new(walk: &'a mut Walk) -> Self {
        Self { walk, count: 0, key: String::new() }
    }
}

macro_rules! nothing {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<(), NoNumber> { Ok(()) })*
    };
}

impl<'a> ser::Serializer for &'a mut Walk {
    type Ok = ();
    type Error = NoNumber;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    nothing! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    }

    fn serialize_f32(self, number: f32) -> Result<(), NoNumber> {
        self.number(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), NoNumber> {
        self.number(number)
    }

    fn serialize_none(self) -> Result<(), NoNumber> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoNumber> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NoNumber> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), NoNumber> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NoNumber> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NoNumber> {
        self.at(variant.to_owned(), value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Members<'a>, NoNumber> {
        Ok(Members::new(self))
    }
}

impl Members<'_> {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoNumber> {
        self.count += 1;
        self.walk.at((self.count - 1).to_string(), value)
    }
}

macro_rules! members {
    ($($trait:ident: $method:ident),*) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = NoNumber;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoNumber> {
                self.next(value)
            }

            fn end(self) -> Result<(), NoNumber> {
                Ok(())
            }
        })*
    };
}

members! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = NoNumber;

    // Keys are texts or whole numbers.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoNumber> {
        let key = serde_json::to_string(key).unwrap_or_default();
        self.key = key.trim_matches('"').to_owned();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoNumber> {
        self.walk.at(std::mem::take(&mut self.key), value)
    }

    fn end(self) -> Result<(), NoNumber> {
        Ok(())
    }
}

macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = NoNumber;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NoNumber> {
                self.walk.at(name.to_owned(), value)
            }

            fn end(self) -> Result<(), NoNumber> {
                Ok(())
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Estimate, Interval};

    #[test]
    fn the_first_number_that_is_none_is_told_with_its_place() {
        let estimate = |value, error, high| Estimate {
            value,
            unit: "1".to_owned(),
            standard_error: error,
            interval: Interval::Fieller { low: 0.0, high, level: 0.95, degrees_of_freedom: 3 },
        };
        assert_eq!(check(&vec![estimate(1.0, None, 2.0)]), Ok(()));
        let place = |found: Estimate| check(&vec![estimate(1.0, None, 2.0), found]).unwrap_err().0;
        assert_eq!(place(estimate(f64::INFINITY, None, 2.0)), "1.value is inf");
        assert_eq!(place(estimate(1.0, Some(f64::NAN), 2.0)), "1.standard_error is NaN");
        assert_eq!(place(estimate(1.0, None, f64::INFINITY)), "1.interval.high is inf");
    }
}
