//! PIE with CHOKe's comparison, proposed against unfairness between flows of different round-trip times: Piotrowska,
//! "On cross-layer interactions for congestion control in the Internet", Applied Sciences 11 (2021), section 5.2.

use super::parts::draw_of_same_flow;
use super::{Context, DropCause, Limit, Pie, PieParameters, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::{Duration, Time};

pub type ChokePieParameters = PieParameters;

state! {
    /// PIE with CHOKe's comparison.
    pub ChokePie(limit: Limit, parameters: ChokePieParameters) {
        pie: Pie = Pie::new(limit, parameters),
    }
}

about! { ChokePie:
    name: "choke_pie",
    aliases: ["pie_choke"],
    title: "PIE with CHOKe's comparison",
    class: "aqm",
    year: 2021,
    source: "Piotrowska, Applied Sciences 11 (2021), section 5.2; Pan, Prabhakar and Psounis, INFOCOM 2000; RFC 8033",
    deviations: "the proposal is two sentences long and does not say when to compare: here whenever PIE itself may \
                 drop an arrival, and before it draws; only the arrival is dropped, as in the proposal, where CHOKe \
                 also drops the drawn packet; a match also drops ECN-capable packets, as in CHOKe; otherwise as pie",
}

impl ChokePie {
    pub fn drop_probability(&self) -> f64 {
        self.pie.drop_probability()
    }
}

impl QueueDiscipline for ChokePie {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.pie.may_drop() && draw_of_same_flow(&packet, self.pie.line(), context.random).is_some() {
            context.drop(packet, DropCause::Early, None);
        } else {
            self.pie.enqueue(packet, context);
        }
    }

    dispatch! { .pie
        fn dequeue(&mut self, context: &mut Context) -> Option<Queued>;
        fn packets(&self) -> u64;
        fn bytes(&self) -> u64;
        fn timer_interval(&self) -> Option<Duration>;
        fn on_timer(&mut self, now: Time);
    }
}
