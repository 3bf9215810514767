//! `json!`: trees as they are written in JSON, with the program's values in them.
//!
//! Inputs: literals, `null`, lists, objects, and expressions of any type that is [`ToJson`], which are borrowed.
//! Outputs: a [`Json`]; its literal names and strings cost no allocation. Invariant: fields are sorted by name, and of
//! equal names the last one counts.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Json, Text};

/// What `json!` takes as a value.
pub trait ToJson {
    /// Returns the value as JSON.
    fn to_json(&self) -> Json;
}

/// What `json!` takes as a literal.
#[doc(hidden)]
pub trait Literal {
    /// Returns the literal as JSON; a word is not copied.
    fn literal(self) -> Json;
}

impl Literal for &'static str {
    fn literal(self) -> Json {
        Json::Str(Text::of(self))
    }
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Literal for $number {
            fn literal(self) -> Json {
                self.to_json()
            }
        }

        impl ToJson for $number {
            fn to_json(&self) -> Json {
                i64::try_from(*self).map_or(Json::Float(*self as f64), Json::Int)
            }
        }
    )* };
}

numbers!(i32, i64, u8, u16, u32, u64, usize);

impl Literal for f64 {
    fn literal(self) -> Json {
        Json::Float(self)
    }
}

impl Literal for bool {
    fn literal(self) -> Json {
        Json::Bool(self)
    }
}

impl ToJson for f64 {
    fn to_json(&self) -> Json {
        if self.is_finite() { Json::Float(*self) } else { Json::Null }
    }
}

impl ToJson for bool {
    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }
}

impl ToJson for str {
    fn to_json(&self) -> Json {
        Json::text(self)
    }
}

impl ToJson for String {
    fn to_json(&self) -> Json {
        Json::text(self)
    }
}

impl ToJson for Cow<'_, str> {
    fn to_json(&self) -> Json {
        Json::text(self.as_ref())
    }
}

impl ToJson for Text {
    fn to_json(&self) -> Json {
        Json::Str(self.clone())
    }
}

impl ToJson for Json {
    fn to_json(&self) -> Json {
        self.clone()
    }
}

impl ToJson for serde_json::Value {
    fn to_json(&self) -> Json {
        Json::from(self.clone())
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    fn to_json(&self) -> Json {
        (**self).to_json()
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, ToJson::to_json)
    }
}

impl<T: ToJson> ToJson for [T] {
    fn to_json(&self) -> Json {
        self.iter().map(ToJson::to_json).collect()
    }
}

impl<T: ToJson, const N: usize> ToJson for [T; N] {
    fn to_json(&self) -> Json {
        self.as_slice().to_json()
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn to_json(&self) -> Json {
        self.as_slice().to_json()
    }
}

impl<K: AsRef<str>, V: ToJson> ToJson for BTreeMap<K, V> {
    fn to_json(&self) -> Json {
        self.iter().map(|(name, value)| (Text::from(name.as_ref()), value.to_json())).collect()
    }
}

/// Builds a [`Json`] from JSON-like syntax.
#[macro_export]
macro_rules! json {
    (@list [$($done:expr),*]) => { $crate::objects::Json::array($crate::objects::listed([$($done),*])) };
    (@list [$($done:expr),*] null $(, $($rest:tt)*)?) => {
        $crate::json!(@list [$($done,)* $crate::objects::Json::Null] $($($rest)*)?)
    };
    (@list [$($done:expr),*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::json!(@list [$($done,)* $crate::json!([$($inner)*])] $($($rest)*)?)
    };
    (@list [$($done:expr),*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::json!(@list [$($done,)* $crate::json!({$($inner)*})] $($($rest)*)?)
    };
    (@list [$($done:expr),*] $value:literal $(, $($rest:tt)*)?) => {
        $crate::json!(@list [$($done,)* $crate::json!($value)] $($($rest)*)?)
    };
    (@list [$($done:expr),*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::json!(@list [$($done,)* $crate::json!($value)] $($($rest)*)?)
    };
    (@fields [$($done:expr),*]) => { $crate::objects::Json::of_fields($crate::objects::listed([$($done),*])) };
    (@fields [$($done:expr),*] $name:tt : null $(, $($rest:tt)*)?) => {
        $crate::json!(@fields [$($done,)* ($crate::json!(@name $name), $crate::objects::Json::Null)] $($($rest)*)?)
    };
    (@fields [$($done:expr),*] $name:tt : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::json!(@fields [$($done,)* ($crate::json!(@name $name), $crate::json!([$($inner)*]))] $($($rest)*)?)
    };
    (@fields [$($done:expr),*] $name:tt : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::json!(@fields [$($done,)* ($crate::json!(@name $name), $crate::json!({$($inner)*}))] $($($rest)*)?)
    };
    (@fields [$($done:expr),*] $name:tt : $value:literal $(, $($rest:tt)*)?) => {
        $crate::json!(@fields [$($done,)* ($crate::json!(@name $name), $crate::json!($value))] $($($rest)*)?)
    };
    (@fields [$($done:expr),*] $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::json!(@fields [$($done,)* ($crate::json!(@name $name), $crate::json!($value))] $($($rest)*)?)
    };
    (@name $name:literal) => { $crate::objects::Text::of($name) };
    (@name $name:expr) => { $crate::objects::Text::from($name) };
    (null) => { $crate::objects::Json::Null };
    ([$($inner:tt)*]) => { $crate::json!(@list [] $($inner)*) };
    ({$($inner:tt)*}) => { $crate::json!(@fields [] $($inner)*) };
    ($value:literal) => { $crate::objects::Literal::literal($value) };
    ($value:expr) => { $crate::objects::ToJson::to_json(&$value) };
}

/// Returns the items of a list as it is written.
#[doc(hidden)]
#[must_use]
pub fn listed<T, const N: usize>(items: [T; N]) -> Vec<T> {
    Vec::from(items)
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use crate::objects::{Json, Text};

    #[test]
    fn it_reads_like_json() {
        let (name, list, none) = (String::from("n"), [1_i64, 2], Option::<i64>::None);
        let key = Text::from("k");
        let json = json!({
            "z": null, "a": [], "b": {}, "name": name, "list": list, (key.clone()): -1, "sum": 1 + 1, "none": none,
            "deep": {"x": [null, true, 1.5, "w", {"y": name.len()}], "x2": list.len() as i64,},
        });
        let text = concat!(
            r#"{"a":[],"b":{},"deep":{"x":[null,true,1.5,"w",{"y":1}],"x2":2},"k":-1,"list":[1,2],"#,
            r#""name":"n","none":null,"sum":2,"z":null}"#,
        );
        assert_eq!(json.to_string(), text);
        assert_eq!(json, Json::parse(text).unwrap());
    }

    #[test]
    fn of_equal_names_the_last_counts() {
        assert_eq!(json!({"b": 0, "a": 1, "b": 2, "a": 3}).to_string(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn numbers_beyond_what_kubernetes_counts_are_floats() {
        assert_eq!(json!(u64::MAX), Json::Float(18_446_744_073_709_551_615.0));
        assert_eq!(json!(f64::NAN), Json::Null);
    }
}
