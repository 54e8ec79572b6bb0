//! No text makes the parser of scripts panic.

use sojourn_packetdrill::script::parse;

#[test]
fn no_text_breaks_parser() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        let _ = parse(&String::from_utf8_lossy(bytes));
    });
}
