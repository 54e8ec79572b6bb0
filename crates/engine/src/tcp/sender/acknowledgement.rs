//! Processing of an acknowledgement: updates the scoreboard, detects losses, grows the window or continues recovery,
//! and sends what the window then allows.

use super::{DeliveryEstimator, SegmentTimes, Sender, State};
use crate::packet::{AckOptions, Packet};
use crate::tcp::congestion::{Ack, Delivery, RateSample, Timestamps};
use crate::tcp::flight::Arrival;
use crate::tcp::profile::ControlRtt;
use crate::tcp::recovery::{Evidence, Recovery, Step};
use crate::tcp::scoreboard::{Progress, Told};
use crate::time::{Duration, Time};

/// The degree of reordering that a sender expects from the beginning, in segments (Linux ip-sysctl.rst, tcp_reordering).
const EXPECTED_REORDERING: u64 = 3;

/// An acknowledgement as received by the sender.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    /// Cumulative acknowledgement number.
    pub number: u64,
    /// The echoed timestamp.
    pub echo: Time,
    pub echoes_congestion: bool,
    /// The other options.
    pub options: &'a AckOptions,
}

/// The input to window growth from an acknowledgement of new data.
#[derive(Clone, Copy)]
struct Growth<'a> {
    acked: u64,
    /// Bytes newly delivered, cumulatively or by SACK blocks.
    delivered: u64,
    /// Whether data above a gap had been SACKed before, or marks were reducing the window.
    follows_gap: bool,
    /// Segments newly known to be marked.
    marked: u64,
    rtt: Option<Duration>,
    timestamps: Option<Timestamps>,
    options: &'a AckOptions,
}

/// Those who are told of each segment that is delivered.
struct Watching<'a> {
    delivery: &'a mut Option<Box<DeliveryEstimator>>,
    recovery: &'a mut Recovery,
    times: &'a mut Option<Box<SegmentTimes>>,
    /// The end of the tick of the echoed timestamp, for segments that are acknowledged and for those that are SACKed.
    echo_ended: [Option<Time>; 2],
    now: Time,
}

impl Told for Watching<'_> {
    // Inlined where it is called once for each segment of most acknowledgements.
    #[inline(always)]
    fn of_delivery(&mut self, index: u64, is_sacked: bool) {
        if let Some(delivery) = self.delivery {
            delivery.on_delivered(index, self.now);
        }
        let transmission = self.recovery.on_delivered(index, self.echo_ended[usize::from(is_sacked)], self.now);
        if let Some(times) = self.times {
            times.on_delivered(index, transmission, is_sacked);
        }
    }
}

impl Sender {
    pub fn on_ack(&mut self, ack: &Acknowledgement, now: Time, outbox: &mut Vec<Packet>) {
        if self.state != State::Established {
            return;
        }
        if ack.number < self.flight.una {
            return self.on_old_ack(ack, now, outbox);
        }
        let Acknowledgement { number, echo, options, .. } = *ack;
        let sacks = options.sacks.as_slice();
        let acked = number - self.flight.una;
        let prior_in_flight = self.flight.pipe();
        let prior_unrepaired = self.flight.scoreboard.lost() * self.flight.window.mss;
        let follows_gap = self.flight.scoreboard.sacked() > 0 || self.recovery.is_reducing();
        let mut progress = Progress::default();
        if !sacks.is_empty() || acked > 0 {
            progress = self.take_arrivals(ack, now);
            self.flight.una = number;
        }
        let rtt = if self.segment_times.is_some() {
            self.sample_segments(acked > 0, echo, now)
        } else if acked > 0 {
            self.sample_rtt(number, echo, now)
        } else {
            None
        };
        if acked > 0 {
            self.retries = 0;
            self.flight.limited_transmitted = 0;
        }
        let evidence = self.recovery.find_losses(&mut self.flight, acked, sacks, &mut progress, &self.rto, now);
        if progress.needless > 0 {
            self.count_needless(&mut progress, now);
        }
        self.act_on(evidence, progress.delivered, now);
        let marked = self.marks.count(ack, progress.delivered);
        let timestamps = options.sent.map(|sent| Timestamps { sent, echo });
        let mut delivery =
            if self.delivery.is_some() { self.delivery_of(&progress, marked, rtt, prior_in_flight, now) } else { None };
        if let Some(delivery) = &mut delivery {
            delivery.acked = acked;
            delivery.una = number;
            delivery.nxt = self.next_sequence();
            delivery.uses_window = self.uses_window();
            delivery.timestamps = timestamps;
            delivery.prior_unrepaired = prior_unrepaired;
        }
        self.recovery.end_reduction(&mut self.flight);
        if marked > 0 {
            self.on_marks(now);
        }
        let arrival = Arrival { acked, progress, has_blocks: !sacks.is_empty() };
        let counted = if self.flight.settings.has_sack { 0 } else { self.told_by_duplicates(progress.delivered) };
        let step = self.recovery.on_ack(&mut self.flight, &arrival);
        let delivered = (progress.delivered - counted) * self.flight.window.mss;
        let growth = Growth { acked, delivered, follows_gap, marked, rtt, timestamps, options };
        let restarts_timer = self.take_step(step, &growth, &arrival, now, outbox);
        if let Some(delivery) = &mut delivery {
            delivery.in_recovery = !self.flight.is_open() || self.recovery.is_reducing();
            delivery.unrepaired = self.flight.scoreboard.lost() * self.flight.window.mss;
            self.governor.on_delivery(&mut self.flight.window, delivery);
        }
        if acked > 0 {
            if self.flight.scoreboard.outstanding() == 0 {
                self.retransmission = Time::NEVER; // RFC 6298 (5.2)
            } else if restarts_timer {
                self.retransmission = now + self.rto.timeout(&self.profile.rto_limits()); // RFC 6298 (5.3)
            }
            if self.flight.una > self.fin {
                self.state = State::Completed;
                self.completed_at = now;
                self.stop_timers();
                return;
            }
        } else if self.recovery.restarts_timer_on_duplicates() && self.flight.scoreboard.outstanding() > 0 {
            self.retransmission = now + self.rto.timeout(&self.profile.rto_limits());
        }
        self.send(now, outbox);
        if acked > 0 {
            self.arm_probe(now);
        }
    }

    /// A spurious retransmission has been delivered, too: it counts for the window and for the delivery rate (Linux tcp_input.c,
    /// tcp_dsack_seen, tcp_count_delivered).
    #[cold]
    #[inline(never)]
    fn count_needless(&mut self, progress: &mut Progress, now: Time) {
        progress.delivered += progress.needless;
        if let Some(delivery) = &mut self.delivery {
            delivery.on_needless(progress.needless, now);
        }
    }

    /// Without SACK, each duplicate acknowledgement has told of a delivered segment, all but one of those that are delivered now at the
    /// most (Linux tcp_input.c, tcp_remove_reno_sacks).
    #[cold]
    #[inline(never)]
    fn told_by_duplicates(&self, delivered: u64) -> u64 {
        if !self.flight.settings.counts_segments {
            return 0;
        }
        self.flight.duplicate_acks.min(delivered.saturating_sub(1))
    }

    /// Processes an acknowledgement that a later one has overtaken. What it SACKs above that is news (Linux tcp_input.c, tcp_ack,
    /// `old_ack`).
    #[cold]
    #[inline(never)]
    fn on_old_ack(&mut self, ack: &Acknowledgement, now: Time, outbox: &mut Vec<Packet>) {
        let (sacks, una) = (ack.options.sacks.as_slice(), self.flight.una);
        let evidence = self.recovery.on_old_ack(&self.flight, ack.number, sacks);
        self.act_on(evidence, 0, now);
        if sacks.first().is_some_and(|newest| newest.end > una) {
            self.on_ack(&Acknowledgement { number: una, ..*ack }, now, outbox);
        }
    }

    /// Updates the scoreboard, and passes each delivered segment to the delivery estimator and the recovery.
    fn take_arrivals(&mut self, ack: &Acknowledgement, now: Time) -> Progress {
        if self.watches {
            return self.take_watched_arrivals(ack, now);
        }
        self.flight.scoreboard.on_acknowledgement(ack.number, ack.options.sacks.as_slice(), &mut ())
    }

    #[inline(never)]
    fn take_watched_arrivals(&mut self, ack: &Acknowledgement, now: Time) -> Progress {
        let echo_ended = self.rtt_sampler.end_of_tick(ack.echo);
        // Above a gap the echo is of what arrived before it (RFC 7323 section 4.3). Linux asks it of what is acknowledged in sequence
        // only (tcp_input.c, tcp_clean_rtx_queue, tcp_sacktag_one).
        let of_sacked = echo_ended.filter(|_| !self.flight.settings.counts_segments);
        let mut watching = Watching {
            delivery: &mut self.delivery,
            recovery: &mut self.recovery,
            times: &mut self.segment_times,
            echo_ended: [echo_ended, of_sacked],
            now,
        };
        self.flight.scoreboard.on_acknowledgement(ack.number, ack.options.sacks.as_slice(), &mut watching)
    }

    fn sample_rtt(&mut self, number: u64, echo: Time, now: Time) -> Option<Duration> {
        let rtt = self.rtt_sampler.sample(number, echo, now)?;
        self.take_rtt(rtt);
        Some(rtt)
    }

    /// Takes the samples of segments. The statistics are of the echoed timestamps, as with other stacks.
    #[inline(never)]
    fn sample_segments(&mut self, acknowledges: bool, echo: Time, now: Time) -> Option<Duration> {
        let has_echo = acknowledges && self.profile.timestamps;
        let samples = self.segment_times.as_mut()?.take_samples(has_echo.then_some(echo), now);
        if acknowledges {
            let echoed = if has_echo { Some(now.since(echo)) } else { samples.map(|samples| samples.first) };
            if let Some(rtt) = echoed.filter(|rtt| *rtt > Duration::ZERO) {
                self.statistics.on_rtt(rtt);
                self.latest_rtt = Some(rtt);
            }
        }
        let samples = samples?;
        self.rto.sample(samples.first, &self.profile.rto_limits());
        self.recovery.on_rtt(samples.last);
        Some(samples.last)
    }

    pub(super) fn take_rtt(&mut self, rtt: Duration) {
        self.rto.sample(rtt, &self.profile.rto_limits());
        self.recovery.on_rtt(rtt);
        self.statistics.on_rtt(rtt);
        self.latest_rtt = Some(rtt);
    }

    /// The delivery information of this acknowledgement, for algorithms that request it.
    #[inline(never)]
    fn delivery_of(
        &mut self,
        progress: &Progress,
        marked: u64,
        rtt: Option<Duration>,
        prior_in_flight: u64,
        now: Time,
    ) -> Option<Delivery> {
        let lost_before = self.delivery.as_ref()?.lost();
        self.report_losses(now);
        let estimator = self.delivery.as_mut()?;
        let mss = self.flight.window.mss;
        Some(Delivery {
            now,
            delivered: progress.delivered * mss,
            total_delivered: estimator.delivered(),
            lost: estimator.lost() - lost_before,
            marked: marked * mss,
            rtt,
            srtt: self.rto.srtt(),
            prior_in_flight,
            in_flight: self.flight.pipe(),
            held_back: self.pacer.wait(now),
            rate: estimator.take_sample(now).map(|sample| match &self.segment_times {
                Some(_) => RateSample { rtt, ..sample },
                None => sample,
            }),
            ..Delivery::default()
        })
    }

    /// Responds to what an acknowledgement shows about earlier losses. `delivered` is the number of segments that it
    /// delivered.
    #[inline(always)]
    fn act_on(&mut self, evidence: Evidence, delivered: u64, now: Time) {
        match evidence {
            Evidence::None => {}
            Evidence::ProbeRepaired => self.on_probe_repaired(delivered, now),
            Evidence::Spurious { cwnd, ssthresh } => self.take_back(cwnd, ssthresh, now),
        }
    }

    /// Applies the effect of an acknowledgement on recovery. Returns whether to restart the retransmission timer.
    fn take_step(
        &mut self,
        step: Step,
        growth: &Growth,
        arrival: &Arrival,
        now: Time,
        outbox: &mut Vec<Packet>,
    ) -> bool {
        match step {
            Step::Grow | Step::Enter => {
                if growth.acked > 0 {
                    self.grow(growth, step == Step::Enter, now);
                } else if arrival.progress.newly_sacked > 0 && step == Step::Grow {
                    self.grow_by_sacked(growth, now);
                }
                if step == Step::Enter {
                    self.enter_recovery(arrival, now, outbox);
                }
                true
            }
            Step::Repair { at_once, restarts_timer } => {
                if growth.acked > 0 && self.governor.hears_in_recovery() {
                    let mut ack = self.ack_of(growth, now);
                    self.governor.on_ack(&mut self.flight.window, &mut ack, false);
                }
                self.send_at_once(at_once, now, outbox);
                restarts_timer
            }
            Step::Leave => {
                self.leave_recovery(growth, arrival, now, outbox);
                true
            }
        }
    }

    /// Ends recovery. What its last acknowledgement adds to the window is the stack's to say.
    #[cold]
    #[inline(never)]
    fn leave_recovery(&mut self, growth: &Growth, arrival: &Arrival, now: Time, outbox: &mut Vec<Packet>) {
        self.recovery.leave(&mut self.flight);
        let grows_by_all = self.profile.growth_after_recovery && growth.acked > 0;
        if grows_by_all {
            self.grow(&Growth { delivered: growth.acked, follows_gap: true, ..*growth }, false, now);
        }
        if self.recovery.knows_of_loss(&mut self.flight) {
            self.enter_recovery(arrival, now, outbox);
        } else if self.flight.settings.counts_segments && growth.acked > 0 && !grows_by_all {
            // Linux tcp_input.c, tcp_cong_control: no longer in the state Recovery.
            self.grow(&Growth { follows_gap: true, ..*growth }, false, now);
        }
    }

    /// Grows the window, unless the window was not fully used or the acknowledgement reports marks. Linux does not if a
    /// recovery begins (`enters`): tcp_input.c, tcp_cong_control.
    #[inline(always)]
    fn grow(&mut self, growth: &Growth, enters: bool, now: Time) {
        let mut ack = self.ack_of(growth, now);
        let may_grow = !(enters && self.flight.settings.counts_segments) && self.uses_window();
        self.governor.on_ack(&mut self.flight.window, &mut ack, may_grow);
    }

    #[inline(always)]
    fn uses_window(&self) -> bool {
        self.window_limited || self.used_enough()
    }

    /// Once segments are known to be overtaken by many, what is SACKed grows the window, as what is acknowledged in sequence does: Linux
    /// tcp_input.c, tcp_may_raise_cwnd.
    #[cold]
    #[inline(never)]
    fn grow_by_sacked(&mut self, growth: &Growth, now: Time) {
        let are_overtaken = self.recovery.degree_of_reordering() > EXPECTED_REORDERING;
        if self.flight.settings.counts_segments && are_overtaken && self.uses_window() {
            let mut ack = self.ack_of(growth, now);
            self.governor.grow(&mut self.flight.window, &mut ack);
        }
    }

    /// What the algorithm is told of an acknowledgement of new data.
    #[inline(always)]
    fn ack_of(&self, growth: &Growth, now: Time) -> Ack {
        let Growth { acked, delivered, follows_gap, marked, timestamps, options, .. } = *growth;
        let srtt = self.rto.srtt();
        let rtt = match self.profile.control_rtt {
            ControlRtt::Sample => growth.rtt,
            ControlRtt::Smoothed => growth.rtt.and(Some(srtt)),
        };
        let window = self.flight.window;
        let credit = self.governor.credit(acked, delivered, &window, self.flight.phase);
        Ack {
            now,
            acked,
            credit,
            rtt,
            srtt,
            una: self.flight.una,
            nxt: self.next_sequence(),
            in_flight: self.flight.pipe(),
            follows_gap,
            one_way_delay: options.one_way_delay,
            arrived: options.arrived,
            timestamps,
            marked: marked * window.mss,
            load_factor: options.load_factor,
        }
    }
}
