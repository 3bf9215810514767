//! The addresses of a Node or a machine: types and texts, as the API has them.
//!
//! Inputs: a list in JSON. Outputs: its addresses, or an error that names the item and its field. Pure.

use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::json;

use super::{FieldError, FieldReader, Json, Text};

/// The types of addresses. Source: k8s.io/api core/v1/types.go (v1.34), `NodeAddressType`.
pub const ADDRESS_TYPES: [&str; 5] = ["Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS"];

/// An address with its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeAddress {
    /// `InternalIP`, `ExternalIP`, `InternalDNS`, `ExternalDNS` or `Hostname`.
    pub kind: Text,
    /// The address.
    pub address: Text,
}

impl NodeAddress {
    /// Returns it as the API has it.
    #[must_use]
    pub fn json(&self) -> Json {
        json!({"type": self.kind.as_str(), "address": self.address.as_str()})
    }

    /// Reads a list: `[{"type": "InternalIP", "address": "10.0.0.1"}]`.
    ///
    /// # Errors
    /// A field of an item is missing or unknown, the type is, or what is to be an IP is none.
    pub fn read_list(list: &[Json], path: &str) -> Result<Vec<Self>, FieldError> {
        let read = |(at, item)| {
            let mut reader = FieldReader::new(item, format!("{path}[{at}]"))?;
            reader.needed_text("type")?;
            let kind = reader.word("type", "type of address", &ADDRESS_TYPES)?.unwrap_or_default();
            let address = reader.needed_text("address")?;
            if kind.ends_with("IP") && address.parse::<IpAddr>().is_err() {
                return Err(reader.error("address", format!("an IP address is needed, not {address:?}")));
            }
            reader.finish()?;
            Ok(Self { kind: Text::of(kind), address: address.clone() })
        };
        list.iter().enumerate().map(read).collect()
    }
}
