//! The engine's queue disciplines and congestion controls in a simulator of somebody else's: `examples/home_router.rs`.

use sojourn_engine::time::Duration;
use sojourn_engine::units::Rate;

// Its `main` prints what is asserted here.
#[allow(dead_code)]
#[path = "../../examples/home_router.rs"]
mod example;

/// Behind the FIFO CUBIC keeps the line of 20 Mbit/s busy and fills a buffer of 1000 packets, so that a game waits as long as they
/// take. Behind FQ-CoDel, with a queue of 5 ms, its window falls to 0.7 of 45 ms of the line, of which 40 ms keep it busy; the game
/// waits for the packet that is being sent, and for one turn of the download.
#[test]
fn download_and_game() {
    let packet = Rate(20_000_000).transmission_time(1500);
    let whole = 20e6 * 1448.0 / 1500.0;
    let [(_, fifo), (_, fair)] = example::both();
    for (seen, least) in [(&fifo, 0.95), (&fair, 0.7 * 45.0 / 40.0)] {
        assert!(seen.download > least * whole && seen.download < whole, "{} of {whole} bit/s", seen.download);
        assert!(seen.drops > 0, "CUBIC grows until something is dropped");
    }
    assert!(fifo.longest_wait > packet * 900, "{:?}", fifo.longest_wait);
    assert!(fair.longest_wait <= packet * 2 && fair.longest_wait > Duration::ZERO, "{:?}", fair.longest_wait);
}
