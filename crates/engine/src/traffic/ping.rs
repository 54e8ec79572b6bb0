//! Probes of responsiveness: small requests at a constant interval, each of which is answered at once, and the time from a
//! request to its answer. A request whose answer does not come is sent again, as a lost SYN is.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Offered, RateBased, Source, SourceSetup};
use crate::packet::{OptionsHandle, OptionsPool, Packet, flags};
use crate::probe::{DelayProbe, DelayStatistics};
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

parameters! {
    pub struct PingParameters {
        interval: Duration = Duration::from_milliseconds(100), in 1e6 .. 1e15, "Time between two requests", "draft-ietf-ippm-responsiveness-08: at most 100 a second, which is 10 ms";
        request_size: Bytes = Bytes(60), in 1 .. 65535, "Size of a request on the link, headers included", "a SYN over IPv4 with the options that Linux sends (RFC 9293, RFC 7323, RFC 2018)";
        answer_size: Bytes = Bytes(60), in 1 .. 65535, "Size of an answer on the link, headers included", "a SYN-ACK over IPv4 with the options that Linux sends";
        retry: Duration = Duration::from_milliseconds(1_000), in 1e9 .. 1e15, "Time after which a request without an answer is sent again; it doubles each time", "RFC 6298 section 2.1, the initial RTO; section 5.5, the doubling";
        most_retries: u64 = 6, in 0 .. 30, "Retries after which a request is given up", "Linux net.ipv4.tcp_syn_retries";
    }
}

/// A request without an answer.
#[derive(Debug)]
struct Waiting {
    number: u64,
    /// When it was first sent.
    since: Time,
    retries: u64,
    retry_at: Time,
}

state! {
    pub Ping(parameters: Arc<PingParameters>, setup: SourceSetup) {
        parameters: Arc<PingParameters> = parameters,
        address: Address = setup.address,
        return_address: Option<Address> = setup.return_address,
        next: Time = Time::NEVER,
        next_number: u64,
        /// Bytes of requests still to be sent, retries not counted; `None` if unlimited.
        remaining: Option<u64> = setup.size,
        /// Requests without an answer, in order of their numbers.
        waiting: VecDeque<Waiting>,
        bytes_delivered: u64,
        round_trips: DelayProbe,
        statistics: SenderStatistics,
    }
}

impl Ping {
    fn send(&mut self, number: u64, now: Time, outbox: &mut Vec<Packet>) {
        self.statistics.segments_sent += 1;
        outbox.push(Packet {
            number,
            stamp: now,
            flow: self.address.flow,
            hop: self.address.first_hop,
            options: OptionsHandle::NONE,
            size: self.parameters.request_size.0 as u16,
            flags: flags::DATA,
        });
    }

    fn request(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let number = self.next_number;
        self.send(number, now, outbox);
        self.waiting.push_back(Waiting { number, since: now, retries: 0, retry_at: now + self.parameters.retry });
        self.next_number += 1;
        self.remaining = self.remaining.map(|bytes| bytes.saturating_sub(self.parameters.request_size.0));
        self.next = if self.remaining == Some(0) { Time::NEVER } else { now + self.parameters.interval };
    }

    fn retry(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let (retry, most) = (self.parameters.retry, self.parameters.most_retries);
        self.waiting.retain(|waiting| waiting.retry_at > now || waiting.retries < most);
        let mut again = Vec::new();
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.retry_at <= now) {
            waiting.retries += 1;
            waiting.retry_at = now + Duration(retry.0.saturating_mul(1 << waiting.retries));
            again.push(waiting.number);
        }
        for number in again {
            self.statistics.timeouts += 1;
            self.statistics.retransmissions += 1;
            self.send(number, now, outbox);
        }
    }
}

about! { Ping:
    name: "ping",
    title: "requests and answers, for responsiveness",
    class: "rate",
    year: 2025,
    source: "draft-ietf-ippm-responsiveness-08, section 5.3: separate (foreign) probes",
    deviations: "one exchange of two packets stands for each of the three round trips of a probe, those of the TCP \
                 handshake, of TLS and of the request for one byte; hosts answer at once",
}

impl Source for Ping {
    type Parameters = PingParameters;

    const ONE_WAY: bool = false;

    const UNRESPONSIVE: bool = true;

    fn offered(parameters: &PingParameters) -> Option<Offered> {
        let size = parameters.request_size;
        let average = Rate((size.0 as f64 * 8.0 / parameters.interval.seconds()).ceil() as u64);
        Some(Offered { packet: size, average, burst: 0 })
    }
}

impl RateBased for Ping {
    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, _options: &mut OptionsPool) {
        self.request(now, outbox);
    }

    fn stop(&mut self) -> bool {
        self.waiting.clear();
        std::mem::replace(&mut self.next, Time::NEVER) != Time::NEVER
    }

    fn pacing_deadline(&self) -> Time {
        self.waiting.iter().map(|waiting| waiting.retry_at).fold(self.next, Time::min)
    }

    fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, _options: &mut OptionsPool) {
        self.retry(now, outbox);
        if self.next <= now {
            self.request(now, outbox);
        }
    }

    fn on_answer(&mut self, packet: &Packet, now: Time, _options: &mut OptionsPool) {
        if let Ok(place) = self.waiting.binary_search_by_key(&packet.number, |waiting| waiting.number)
            && let Some(waiting) = self.waiting.remove(place)
        {
            let round_trip = now.since(waiting.since);
            self.statistics.on_rtt(round_trip);
            self.round_trips.record(round_trip);
        }
    }

    fn on_data(&mut self, packet: &Packet, _now: Time, _options: &mut OptionsPool) -> Option<Packet> {
        self.bytes_delivered += u64::from(packet.size);
        let back = self.return_address?;
        let size = self.parameters.answer_size.0 as u16;
        Some(Packet { flow: back.flow, hop: back.first_hop, size, flags: flags::ACK, ..*packet })
    }

    fn delivered(&self) -> u64 {
        self.bytes_delivered
    }

    fn statistics(&self) -> &SenderStatistics {
        &self.statistics
    }

    fn round_trips(&self) -> Option<DelayStatistics> {
        self.round_trips.statistics()
    }

    fn open_window(&mut self) {
        self.statistics = SenderStatistics::default();
        self.round_trips.open_window();
    }
}
