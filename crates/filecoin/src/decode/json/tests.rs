//! What the scanner takes, and what it says of the rest.

use super::*;
use ff::PrimeField;

fn pair(text: &str) -> Result<(u64, u64)> {
    let mut scanner = Scanner::new(text.as_bytes());
    let mut pair = (0, 0);
    scanner.object(["a", "b"], |s, key| {
        *(if key == 0 { &mut pair.0 } else { &mut pair.1 }) = s.integer()?;
        Ok(())
    })?;
    scanner.end().map(|()| pair)
}

#[test]
fn objects_take_any_order_and_white_space_and_nothing_else() {
    assert_eq!(pair(r#"{"a":1,"b":2}"#), Ok((1, 2)));
    assert_eq!(
        pair(" {\n\t\"b\" : 2 ,\r\"a\":18446744073709551615 } "),
        Ok((u64::MAX, 2))
    );
    for (text, error) in [
        (r#"{"a":1}"#, "b: found nothing"),
        (r#"{"a":1,"a":1,"b":2}"#, "a: found the field again"),
        (r#"{"a":1,"b":2,"c":3}"#, "c: found an unknown field"),
        (r#"{"a":1,"b":-2}"#, "b: found \"-2}\" at byte 11"),
        (r#"{"a":1,"b":2.5}"#, "b: found \"2.5}\""),
        (
            r#"{"a":1,"b":18446744073709551616}"#,
            "expected an integer below 2^64",
        ),
        (r#"{"a":01,"b":2}"#, "a: found \"01"),
        (r#"{"a":1,"b":2} x"#, "expected the end of the document"),
        (
            r#"{"a":1,"b":2"#,
            "found the end of the document at byte 12, expected `}`",
        ),
        (r#"{"a":1,}"#, "expected `\"`"),
        (r#"{"\u0061":1,"b":2}"#, "a string without escapes"),
        ("", "found the end of the document at byte 0, expected `{`"),
    ] {
        let found = pair(text).unwrap_err().to_string();
        assert!(found.contains(error), "{text}: {found}");
    }
}

#[test]
fn elements_are_32_bytes_below_the_modulus() {
    let element = |bytes: &[String]| {
        let text = format!("[{}]", bytes.join(","));
        let mut scanner = Scanner::new(text.as_bytes());
        let element = scanner.element()?;
        scanner.end().map(|()| element)
    };
    let mut bytes = vec!["0".to_string(); 32];
    bytes[0] = "7".into();
    assert_eq!(element(&bytes), Ok(Scalar::from(7)));
    let expect = |bytes: &[String], error: &str| {
        let found = element(bytes).unwrap_err().to_string();
        assert!(found.contains(error), "{found}");
    };
    expect(&bytes[..31], "found 31 bytes");
    expect(&[&bytes[..], &bytes[..1]].concat(), "only 32 bytes");
    for bad in [
        "256", "999", "01", "001", "00", "", "-1", "1234", "1.0", "/", ":", "\u{b0}",
    ] {
        bytes[3] = bad.into();
        assert!(element(&bytes).is_err(), "{bad}");
    }
    for value in 0..=255u8 {
        for spaced in [format!("{value}"), format!(" {value}\n")] {
            bytes[3] = spaced;
            let read = element(&bytes).unwrap().to_repr();
            assert_eq!((read[3], read[0]), (value, 7));
        }
    }
    bytes[3] = "0".into();
    bytes[31] = "255".into();
    expect(&bytes, "below the modulus");
}
