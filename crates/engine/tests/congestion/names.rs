//! The names by which congestion controls are asked for.

use serde_json::json;
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::traffic::Traffic;

/// A wrong name is answered with all the right ones, those of rate-based sources too.
#[test]
fn an_unknown_name_is_answered_with_all_names() {
    let error = Algorithm::new("newrino", &json!({})).unwrap_err();
    let (what, known) = error.split_once("; known: ").expect("a list");
    assert_eq!(what, "unknown congestion control \"newrino\"");
    let known: Vec<&str> = known.split(", ").collect();
    let windows = Algorithm::catalogue().into_iter().map(|(about, _)| about.name);
    let rates = Traffic::catalogue().into_iter().map(|(about, ..)| about.name);
    assert_eq!(known, windows.chain(rates).collect::<Vec<_>>());
    assert!(known.contains(&"newreno") && known.contains(&"cbr") && known.contains(&"tfrc"), "{error}");
}
