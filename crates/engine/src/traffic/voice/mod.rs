//! Voice: one direction of a call. A packet of a codec at a constant interval, over RTP, and a listener with a playout buffer.

mod codec;
mod e_model;

use std::sync::Arc;

pub use codec::Codec;

use super::{Cbr, CbrParameters, Offered, RateBased, Source, SourceSetup};
use crate::packet::{OptionsPool, Packet};
use crate::probe::DelayStatistics;
use crate::tcp::sender::SenderStatistics;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

parameters! {
    pub struct VoiceParameters {
        codec: Codec = Codec::G711, "Codec, which sets size and interval of packets and how it bears losses", "ITU-T G.711, the codec that every gateway has";
        talk_spurts: bool = false, "Send nothing while the talker is silent: talk spurts of 1.004 s and pauses of 1.587 s in the mean, both exponential", "RFC 3551 section 4.1: without silence suppression; the means are those of ITU-T P.59 as the literature on voice over IP cites them";
        playout_buffer: Duration = Duration::ZERO, in 0 .. 10e12, "How long the listener holds the fastest packet before it plays it, and misses those that come later; 0 for the time that gives the best rating", "Moon, Kurose and Towsley, Multimedia Systems 6, 1998: the best constant playout delay bounds what adaptive ones reach";
    }
}

/// Headers of a packet: IPv4 20, UDP 8, RTP 12 (RFC 791, 768, 3550).
const HEADERS: u64 = 40;

/// Mean length of a talk spurt and of a pause: ITU-T P.59 as the literature on voice over IP cites it. Its text was not available.
const TALK_SPURT: Duration = Duration::from_milliseconds(1_004);
const PAUSE: Duration = Duration::from_milliseconds(1_587);

/// What the listener hears of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallQuality {
    /// The transmission rating R of the E-model.
    pub rating: f64,
    /// The mean opinion score, 1 to 4.5.
    pub score: f64,
    /// Packets that came too late to be played.
    pub late: u64,
    /// The mouth-to-ear delay in seconds: a packet's speech, look-ahead, network and playout buffer. None if nothing arrived.
    pub mouth_to_ear: Option<f64>,
}

state! {
    /// One direction of a call.
    pub Voice(parameters: Arc<VoiceParameters>, setup: SourceSetup) {
        packets: Cbr = Cbr::new(Arc::new(as_rate(&parameters)), setup).every(parameters.codec.interval()),
        parameters: Arc<VoiceParameters> = parameters,
    }
}

fn as_rate(parameters: &VoiceParameters) -> CbrParameters {
    let (size, interval) = (HEADERS + parameters.codec.payload(), parameters.codec.interval());
    CbrParameters {
        rate: Rate((size as f64 * 8.0 / interval.seconds()).round() as u64),
        packet_size: Bytes(size),
        poisson: false,
        on: TALK_SPURT,
        off: if parameters.talk_spurts { PAUSE } else { Duration::ZERO },
        exponential: parameters.talk_spurts,
    }
}

about! { Voice:
    name: "voice",
    title: "one direction of a call",
    class: "rate",
    year: 2003,
    source: "RFC 3551 (RTP profile for audio); ITU-T G.107 and G.113 appendix I for the rating of what arrives",
    deviations: "pauses between talk spurts are exponential; the playout delay is the same for the whole measuring \
                 window; losses count as random (BurstR = 1); encoding and decoding take no time beyond look-ahead; \
                 G.113 measured the robustness of G.711 at packets of 10 ms",
}

impl Source for Voice {
    type Parameters = VoiceParameters;

    const ONE_WAY: bool = true;

    const UNRESPONSIVE: bool = true;

    const RANDOM_IF: &'static [&'static str] = &["talk_spurts"];

    fn offered(parameters: &VoiceParameters) -> Option<Offered> {
        Cbr::offered(&as_rate(parameters))
    }
}

impl RateBased for Voice {
    dispatch! { .packets
        fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);
        fn stop(&mut self) -> bool;
        fn pacing_deadline(&self) -> Time;
        fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);
        fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet>;
        fn delivered(&self) -> u64;
        fn statistics(&self) -> &SenderStatistics;
        fn delays(&self) -> Option<DelayStatistics>;
        fn open_window(&mut self);
    }

    fn call(&self, dropped: u64) -> Option<CallQuality> {
        let codec = self.parameters.codec;
        let spoken = (codec.interval() + codec.look_ahead()).seconds();
        let delays = self.packets.delay_counts();
        let arrived: u64 = delays.iter().map(|(_, count)| count).sum();
        if arrived + dropped == 0 {
            return None;
        }
        let limit = self.parameters.playout_buffer;
        let fixed = (limit > Duration::ZERO).then(|| delays.first().map_or(0.0, |(least, _)| *least) + limit.seconds());
        let heard = |playout: f64, in_time: u64| {
            let loss = (arrived - in_time + dropped) as f64 / (arrived + dropped) as f64;
            let mouth_to_ear = spoken + playout;
            let rating = e_model::rating(mouth_to_ear, loss, codec.robustness());
            let (score, late) = (e_model::mean_opinion_score(rating), arrived - in_time);
            CallQuality { rating, score, late, mouth_to_ear: Some(mouth_to_ear) }
        };
        let mut in_time = 0;
        let mut best = None::<CallQuality>;
        for (delay, count) in delays {
            if fixed.is_some_and(|playout| delay > playout) {
                break;
            }
            in_time += count;
            let quality = heard(fixed.unwrap_or(delay), in_time);
            // With a fixed playout delay the last counts, which has all packets in time.
            if fixed.is_some() || best.is_none_or(|best| quality.rating > best.rating) {
                best = Some(quality);
            }
        }
        best.or(Some(CallQuality { rating: 0.0, score: 1.0, late: 0, mouth_to_ear: None }))
    }
}
