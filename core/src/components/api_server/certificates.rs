//! Reads from a certificate signing request what admission needs of it.
//!
//! Mirrors pkg/apis/certificates/helpers.go (v1.34), `ParseCSR`. Inputs: `spec.request`, PEM in base64. Outputs: the
//! common name of the subject. Left out on purpose: signatures and extensions, which no plugin here looks at.

use alloc::string::String;
use alloc::vec::Vec;

use crate::objects::base64;

const WRONG_BLOCK: &str = "PEM block type must be CERTIFICATE REQUEST";
/// The object identifier 2.5.4.3, commonName, as DER writes it (RFC 5280, appendix A.1).
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];

/// Reads the common name of a request's subject; empty if it has none.
pub(super) fn common_name(request: &str) -> Result<String, &'static str> {
    let pem = base64::decode(request).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(WRONG_BLOCK)?;
    let body = pem.split_once("-----BEGIN CERTIFICATE REQUEST-----").map(|(_, rest)| rest).ok_or(WRONG_BLOCK)?;
    let body = body.split_once("-----END CERTIFICATE REQUEST-----").map(|(body, _)| body).ok_or(WRONG_BLOCK)?;
    let der: Vec<u8> = base64::decode(body).ok_or(WRONG_BLOCK)?;
    let Some(at) = der.windows(COMMON_NAME.len()).position(|bytes| bytes == COMMON_NAME) else {
        return Ok(String::new());
    };
    // A string follows the identifier: a byte for its kind, one for its length, which is enough for any name.
    let rest = &der[at + COMMON_NAME.len()..];
    let text = rest.get(1).and_then(|length| rest.get(2..2 + usize::from(*length))).unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{COMMON_NAME, WRONG_BLOCK, common_name};
    use crate::objects::base64::encode_for_url;

    #[test]
    fn the_common_name_is_read_and_anything_else_refused() {
        let mut der = alloc::vec![0x30, 0x20];
        der.extend(COMMON_NAME);
        der.extend([0x0c, 14]);
        der.extend(b"system:node:w1");
        let pem = alloc::format!(
            "-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----\n",
            encode_for_url(&der)
        );
        assert_eq!(common_name(&encode_for_url(pem.as_bytes())).as_deref(), Ok("system:node:w1"));
        assert_eq!(common_name("YQ=="), Err(WRONG_BLOCK));
        assert_eq!(common_name("*"), Err(WRONG_BLOCK));
    }
}
