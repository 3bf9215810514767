//! Several errors as one text. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Joins errors as Kubernetes' aggregates print: one as it is, several in brackets, each once; `None` if there is none.
///
/// Source: k8s.io/apimachinery pkg/util/errors/errors.go (v1.34), `aggregate.Error`.
pub fn aggregate<T: AsRef<str>>(errors: impl IntoIterator<Item = T>) -> Option<String> {
    let mut distinct: Vec<String> = Vec::new();
    for error in errors {
        if distinct.iter().all(|other| other != error.as_ref()) {
            distinct.push(String::from(error.as_ref()));
        }
    }
    if distinct.len() > 1 { Some(format!("[{}]", distinct.join(", "))) } else { distinct.pop() }
}

#[cfg(test)]
mod tests {
    use super::aggregate;

    #[test]
    fn each_error_is_told_once() {
        assert_eq!(aggregate([""; 0]), None);
        assert_eq!(aggregate(["a", "a"]).as_deref(), Some("a"));
        assert_eq!(aggregate(["a", "b", "a"]).as_deref(), Some("[a, b]"));
    }
}
