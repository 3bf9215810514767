//! Holds quantities against what k8s.io/apimachinery says of them.
//!
//! fixtures/recorded/quantities.jsonl.gz has a line for each text: what is wrong with it, or how it is printed, its
//! value in units and thousandths, its sum with 1, its difference to 100Mi, how it compares with 0.5, and the parts
//! that Go prints. v0.31.0 and v0.34.4 gave the same answers. A field is absent where upstream's is no number: past 64
//! bits, and for negative values that it keeps as large numbers; sums past 1e27 are not kept here.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use nodeproof_core::objects::Json;
use nodeproof_core::objects::quantity::{Format, Quantity};

#[test]
fn quantities_are_read_and_printed_as_upstream_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/quantities.jsonl.gz");
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let mut counts = [0, 0];
    for line in lines {
        let case = Json::parse(&line.unwrap()).unwrap();
        let text = case.get("text").as_str().unwrap();
        let error = case.get("error").as_str();
        assert_eq!(Quantity::canonical(text).err(), error, "{text:?}");
        assert_eq!(Quantity::read(text).err(), error, "{text:?}");
        counts[usize::from(error.is_some())] += 1;
        let Some(quantity) = Quantity::parse(text) else { continue };
        let one = Quantity::whole(1, Format::DecimalSi);
        let hundred = Quantity::whole(100 << 20, Format::BinarySi);
        let own = [
            ("printed", Quantity::canonical(text).ok().map(Json::text)),
            ("go", Quantity::in_go(text, false).map(Json::text)),
            ("value", Some(Json::Int(quantity.value()))),
            ("milli", Some(Json::Int(quantity.milli_value()))),
            ("plusOne", Some(Json::text((quantity + one).to_string()))),
            ("minus100Mi", Some(Json::text((quantity - hundred).to_string()))),
            ("half", Some(Json::Int(quantity.cmp(&Quantity::milli(500)) as i64))),
        ];
        for (field, own) in own {
            let real = case.get(field);
            let is_same = own.is_none() || own.as_ref() == Some(real);
            assert!(is_same || real.is_null() && field != "go", "{text:?} {field}: {own:?}, {real:?} upstream");
        }
        assert_eq!(Quantity::in_go(text, false).is_some(), case.get("go").as_str().is_some(), "{text:?}");
    }
    assert_eq!(counts, [2974, 1510]);
}
