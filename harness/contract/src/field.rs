//! The types that a payload field may have, and how a wrong type is reported.
//!
//! Guarantees that taking a value apart and writing it again gives an equal value; a value of another type is handed
//! back untouched. Inner structure (the calls of a batch, background tasks) stays JSON and gets typed views elsewhere.

use serde_json::{Map, Number, Value};

/// A field that has not the declared type, or that is missing though required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place, as `field`, `field.member` or `field[2].member`.
    pub path: String,
    /// What the contract declares.
    pub expected: &'static str,
    /// What the payload has: a JSON type, `null` or `missing`.
    pub found: &'static str,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path, self.expected, self.found)
    }
}

/// Whether a field has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always sent.
    Required,
    /// Left out when there is nothing to say.
    Optional,
    /// Always sent, `null` included.
    Nullable,
}

/// One declared field of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldFact {
    /// The key.
    pub name: &'static str,
    /// The type, in the words of a message.
    pub expected: &'static str,
    /// Whether it has to be there.
    pub need: Need,
}

/// A type that a field of a payload can be decoded to.
pub(crate) trait Field: Sized {
    const EXPECTED: &'static str;
    /// The typed value, or the value back with the path below the field at which it differs.
    fn take(value: Value) -> Result<Self, Box<Misfit>>;
    fn give(&self) -> Value;
}

/// A value of the wrong type.
pub(crate) struct Misfit {
    pub(crate) value: Value,
    /// Empty for the field itself, `[1]` for an item of it.
    pub(crate) below: String,
    pub(crate) expected: &'static str,
    pub(crate) found: &'static str,
}

fn misfit<T: Field>(value: Value) -> Box<Misfit> {
    let found = crate::json::kind(&value);
    Box::new(Misfit { value, below: String::new(), expected: T::EXPECTED, found })
}

macro_rules! plain {
    ($ty:ty, $variant:ident, $expected:literal) => {
        impl Field for $ty {
            const EXPECTED: &'static str = $expected;

            fn take(value: Value) -> Result<Self, Box<Misfit>> {
                match value {
                    Value::$variant(inner) => Ok(inner),
                    other => Err(misfit::<Self>(other)),
                }
            }

            fn give(&self) -> Value {
                Value::$variant(self.clone())
            }
        }
    };
}

plain!(String, String, "string");
plain!(bool, Bool, "boolean");
plain!(Number, Number, "number");
plain!(Vec<Value>, Array, "array");
plain!(Map<String, Value>, Object, "object");

impl Field for Value {
    const EXPECTED: &'static str = "any value";

    fn take(value: Value) -> Result<Self, Box<Misfit>> {
        Ok(value)
    }

    fn give(&self) -> Value {
        self.clone()
    }
}

impl Field for Vec<String> {
    const EXPECTED: &'static str = "array of strings";

    fn take(value: Value) -> Result<Self, Box<Misfit>> {
        let Value::Array(items) = value else { return Err(misfit::<Self>(value)) };
        if let Some((at, item)) = items.iter().enumerate().find(|(_, item)| !item.is_string()) {
            let (below, found) = (format!("[{at}]"), crate::json::kind(item));
            return Err(Box::new(Misfit { value: Value::Array(items), below, expected: "string", found }));
        }
        let text = |item| if let Value::String(text) = item { Some(text) } else { None };
        Ok(items.into_iter().filter_map(text).collect())
    }

    fn give(&self) -> Value {
        Value::Array(self.iter().cloned().map(Value::String).collect())
    }
}
