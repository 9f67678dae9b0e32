//! The pickle machine: a stack, marks, a memo, and the few instructions that a state dict uses.
//!
//! Values live in an arena and refer to each other by number, so that a list may be filled after it
//! was memoised, a cycle does no harm, and dropping a deep nest does not recurse. Instructions: the
//! `pickletools` module of Python.

use std::collections::HashMap;
use std::io::Read;

use super::value::{Global, Id, Storage, Tensor, Value};
use crate::error::{PickleError, PickleResult as Result};

/// Bytes of one pickle; the largest published state dicts need a tenth of a megabyte.
const MAX_BYTES: u64 = 16 << 20;
/// Values, and entries of the stack; a tensor takes about twenty.
const MAX_VALUES: usize = 1 << 19;
/// Axes of a tensor, and bytes of a storage's key: bounds that keep copies of a memoised value
/// small.
const MAX_AXES: usize = 16;
const MAX_KEY: usize = 64;

/// The result of one pickle.
#[derive(Debug)]
pub(super) struct Object {
    values: Vec<Value>,
    top: Id,
    /// Bytes of the stream up to and with its STOP.
    pub(super) bytes: u64,
}

impl Object {
    pub(super) fn top(&self) -> &Value {
        self.get(self.top)
    }

    pub(super) fn get(&self, id: Id) -> &Value {
        &self.values[id as usize]
    }
}

/// Runs one pickle to its STOP and reads nothing beyond it.
pub(super) fn run(stream: &mut impl Read) -> Result<Object> {
    let mut machine = Machine {
        stream: Stream { reader: stream, bytes: 0 },
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    while machine.step()? {}
    let top = machine.pop()?;
    Ok(Object { values: machine.values, top, bytes: machine.stream.bytes })
}

struct Stream<'a, R> {
    reader: &'a mut R,
    bytes: u64,
}

impl<R: Read> Stream<'_, R> {
    fn malformed(&self, reason: &'static str) -> PickleError {
        PickleError::Malformed { offset: self.bytes, reason }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => self.malformed("it ends before its STOP"),
            _ => e.into(),
        })?;
        self.bytes += N as u64;
        if self.bytes > MAX_BYTES {
            return Err(PickleError::TooLarge("more than 16 MiB of instructions"));
        }
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take::<1>()?[0])
    }

    /// `length` bytes; memory grows with what is really there.
    fn run(&mut self, length: u64) -> Result<Vec<u8>> {
        if length > MAX_BYTES {
            return Err(PickleError::TooLarge("a string of more than 16 MiB"));
        }
        let mut bytes = Vec::new();
        (&mut *self.reader).take(length).read_to_end(&mut bytes)?;
        self.bytes += bytes.len() as u64;
        if (bytes.len() as u64) < length {
            return Err(self.malformed("a string runs past its end"));
        }
        Ok(bytes)
    }

    fn text(&mut self, length: u64) -> Result<String> {
        let bytes = self.run(length)?;
        String::from_utf8(bytes).map_err(|_| self.malformed("a string is not UTF-8"))
    }

    fn line(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        loop {
            match self.byte()? {
                b'\n' => break,
                byte => bytes.push(byte),
            }
        }
        String::from_utf8(bytes).map_err(|_| self.malformed("a name is not UTF-8"))
    }
}

struct Machine<'a, R> {
    stream: Stream<'a, R>,
    values: Vec<Value>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl<R: Read> Machine<'_, R> {
    /// One instruction; `false` after STOP.
    fn step(&mut self) -> Result<bool> {
        let offset = self.stream.bytes;
        let code = self.stream.byte()?;
        match code {
            0x80 => drop(self.stream.byte()?),      // PROTO
            0x95 => drop(self.stream.take::<8>()?), // FRAME
            b'.' => return Ok(false),
            b'(' => self.mark()?,
            b'N' => self.push(Value::None)?,
            0x88 => self.push(Value::Bool(true))?,
            0x89 => self.push(Value::Bool(false))?,
            b'K' => {
                let n = self.stream.byte()?;
                self.push(Value::Int(n.into()))?;
            }
            b'M' => {
                let n = u16::from_le_bytes(self.stream.take()?);
                self.push(Value::Int(n.into()))?;
            }
            b'J' => {
                let n = i32::from_le_bytes(self.stream.take()?);
                self.push(Value::Int(n.into()))?;
            }
            0x8a => self.long()?,
            b'G' => {
                self.stream.take::<8>()?;
                self.push(Value::Float)?;
            }
            b'X' => {
                let length = u32::from_le_bytes(self.stream.take()?);
                self.string(length.into())?;
            }
            // Python 2 wrote its byte strings so; state dicts use them for ASCII names.
            b'T' => {
                let length = u32::from_le_bytes(self.stream.take()?);
                self.string(length.into())?;
            }
            0x8c | b'U' => {
                let length = self.stream.byte()?;
                self.string(length.into())?;
            }
            b')' => self.push(Value::Tuple(Vec::new()))?,
            b']' => self.push(Value::List(Vec::new()))?,
            b'}' => self.push(Value::Dict(Vec::new()))?,
            0x85..=0x87 => {
                let items = self.pop_n(usize::from(code - 0x84))?;
                self.push(Value::Tuple(items))?;
            }
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Tuple(items))?;
            }
            b'l' => {
                let items = self.pop_to_mark()?;
                self.push(Value::List(items))?;
            }
            b'a' => {
                let item = self.pop()?;
                self.extend_list(vec![item])?;
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.extend_list(items)?;
            }
            b's' => {
                let items = self.pop_n(2)?;
                self.extend_dict(&items)?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.extend_dict(&items)?;
            }
            b'q' => {
                let slot = self.stream.byte()?;
                self.memoise(slot.into())?;
            }
            b'r' => {
                let slot = u32::from_le_bytes(self.stream.take()?);
                self.memoise(slot)?;
            }
            0x94 => self.memoise(self.memo.len() as u32)?,
            b'h' => {
                let slot = self.stream.byte()?;
                self.recall(slot.into())?;
            }
            b'j' => {
                let slot = u32::from_le_bytes(self.stream.take()?);
                self.recall(slot)?;
            }
            b'c' => {
                let (module, name) = (self.stream.line()?, self.stream.line()?);
                self.push(Value::Global(Global::find(&module, &name)?))?;
            }
            0x93 => {
                let names = self.pop_n(2)?;
                let [Value::Text(module), Value::Text(name)] = self.values_of(&names)[..] else {
                    return Err(self.stream.malformed("STACK_GLOBAL without two names"));
                };
                let global = Global::find(module, name)?;
                self.push(Value::Global(global))?;
            }
            b'Q' => self.persistent()?,
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            other => {
                return Err(PickleError::Instruction { name: instruction_name(other), offset });
            }
        }
        Ok(true)
    }

    fn push(&mut self, value: Value) -> Result<()> {
        if self.values.len() >= MAX_VALUES {
            return Err(PickleError::TooLarge("more than half a million values"));
        }
        self.values.push(value);
        self.push_id(self.values.len() as Id - 1)
    }

    fn push_id(&mut self, id: Id) -> Result<()> {
        if self.stack.len() >= MAX_VALUES {
            return Err(PickleError::TooLarge("a stack of more than half a million values"));
        }
        self.stack.push(id);
        Ok(())
    }

    fn mark(&mut self) -> Result<()> {
        if self.marks.len() >= MAX_VALUES {
            return Err(PickleError::TooLarge("more than half a million open marks"));
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn pop(&mut self) -> Result<Id> {
        // What lies below an open mark is out of reach.
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.pop() {
            Some(id) if self.stack.len() >= floor => Ok(id),
            _ => Err(self.stream.malformed("an instruction finds too little on the stack")),
        }
    }

    fn pop_n(&mut self, n: usize) -> Result<Vec<Id>> {
        let mut items = (0..n).map(|_| self.pop()).collect::<Result<Vec<_>>>()?;
        items.reverse();
        Ok(items)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop();
        match mark {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => Err(self.stream.malformed("an instruction finds no mark")),
        }
    }

    fn values_of(&self, ids: &[Id]) -> Vec<&Value> {
        ids.iter().map(|id| &self.values[*id as usize]).collect()
    }

    /// The value on top of the stack, to be filled.
    fn top_mut(&mut self) -> Result<&mut Value> {
        match self.stack.last() {
            Some(id) => Ok(&mut self.values[*id as usize]),
            None => Err(self.stream.malformed("an instruction finds an empty stack")),
        }
    }

    fn string(&mut self, length: u64) -> Result<()> {
        let text = self.stream.text(length)?;
        self.push(Value::Text(text))
    }

    fn long(&mut self) -> Result<()> {
        let length = self.stream.byte()?;
        let bytes = self.stream.run(length.into())?;
        if bytes.len() > 8 {
            return self.push(Value::Wide(bytes));
        }
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(&bytes);
        self.push(Value::Int(i64::from_le_bytes(wide)))
    }

    fn extend_list(&mut self, items: Vec<Id>) -> Result<()> {
        match self.top_mut()? {
            Value::List(list) => list.extend(items),
            _ => return Err(self.stream.malformed("items are added to something that is no list")),
        }
        Ok(())
    }

    fn extend_dict(&mut self, items: &[Id]) -> Result<()> {
        let (pairs, rest) = items.as_chunks::<2>();
        match self.top_mut()? {
            Value::Dict(dict) if rest.is_empty() => {
                dict.extend(pairs.iter().map(|[k, v]| (*k, *v)))
            }
            _ => {
                return Err(self
                    .stream
                    .malformed("items are set in something that is no dictionary"));
            }
        }
        Ok(())
    }

    fn memoise(&mut self, slot: u32) -> Result<()> {
        let Some(id) = self.stack.last() else {
            return Err(self.stream.malformed("nothing to memoise"));
        };
        self.memo.insert(slot, *id);
        Ok(())
    }

    fn recall(&mut self, slot: u32) -> Result<()> {
        match self.memo.get(&slot) {
            Some(id) => self.push_id(*id),
            None => Err(self.stream.malformed("a memo slot was never filled")),
        }
    }

    /// A persistent id is `('storage', type, key, device, elements)`; the old container adds a
    /// view, which we refuse.
    fn persistent(&mut self) -> Result<()> {
        let id = self.pop()?;
        let Value::Tuple(parts) = &self.values[id as usize] else {
            return Err(self.stream.malformed("a persistent id is not a tuple"));
        };
        let parts = self.values_of(parts);
        let storage = match parts[..] {
            [
                Value::Text(kind),
                Value::Global(Global::StorageType(stored)),
                Value::Text(key),
                Value::Text(_),
                Value::Int(elements),
            ]
            | [
                Value::Text(kind),
                Value::Global(Global::StorageType(stored)),
                Value::Text(key),
                Value::Text(_),
                Value::Int(elements),
                Value::None,
            ] if kind == "storage" && *elements >= 0 && key.len() <= MAX_KEY => {
                Storage { stored: *stored, key: key.clone(), elements: *elements as u64 }
            }
            _ => return Err(self.stream.malformed("a persistent id is not that of a storage")),
        };
        self.push(Value::Storage(storage))
    }

    /// A call: only those that make a dictionary, a tensor or a parameter.
    fn reduce(&mut self) -> Result<()> {
        let items = self.pop_n(2)?;
        let [Value::Global(global), Value::Tuple(arguments)] = self.values_of(&items)[..] else {
            return Err(self.stream.malformed("REDUCE without a function and its arguments"));
        };
        let arguments = self.values_of(arguments);
        let value = match (global, &arguments[..]) {
            (Global::OrderedDict, []) => Value::Dict(Vec::new()),
            (
                Global::RebuildTensor,
                [Value::Storage(storage), Value::Int(offset), shape, strides, ..],
            ) => match (u64::try_from(*offset), self.sizes(shape), self.sizes(strides)) {
                (Ok(offset), Some(shape), Some(strides)) => {
                    Value::Tensor(Tensor { storage: storage.clone(), offset, shape, strides })
                }
                _ => return Err(self.stream.malformed("a tensor's shape is not a tuple of sizes")),
            },
            (Global::RebuildParameter, [Value::Tensor(tensor), ..]) => {
                Value::Tensor(tensor.clone())
            }
            _ => {
                return Err(self
                    .stream
                    .malformed("a known function has arguments of another kind"));
            }
        };
        self.push(value)
    }

    fn sizes(&self, value: &Value) -> Option<Vec<u64>> {
        let Value::Tuple(items) = value else { return None };
        if items.len() > MAX_AXES {
            return None;
        }
        let size = |value: &Value| match value {
            Value::Int(n) => u64::try_from(*n).ok(),
            _ => None,
        };
        self.values_of(items).into_iter().map(size).collect()
    }

    /// `obj.__setstate__(state)`: an OrderedDict's attributes (`_metadata`) carry no numbers;
    /// nothing else has state.
    fn build(&mut self) -> Result<()> {
        self.pop()?;
        match self.top_mut()? {
            Value::Dict(_) => Ok(()),
            _ => Err(self.stream.malformed("BUILD of something that is no dictionary")),
        }
    }
}

fn instruction_name(code: u8) -> String {
    let name = match code {
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        0x82..=0x84 => "EXT",
        b'P' => "PERSID",
        b'S' => "STRING",
        b'V' => "UNICODE",
        b'I' => "INT",
        b'L' => "LONG",
        b'F' => "FLOAT",
        b'B' | b'C' | 0x8e | 0x96 => "BYTES",
        b'd' => "DICT",
        b'0' => "POP",
        b'1' => "POP_MARK",
        b'2' => "DUP",
        b'p' | b'g' => "PUT/GET",
        0x8b => "LONG4",
        0x8d => "BINUNICODE8",
        0x8f..=0x91 => "SET",
        0x97 | 0x98 => "BUFFER",
        _ => return format!("0x{code:02x}"),
    };
    name.to_string()
}
