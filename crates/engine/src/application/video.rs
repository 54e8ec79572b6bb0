//! Video with an adaptive bit rate: each segment is a request on one persistent connection (see [`crate::video`]).

use std::sync::Arc;

use super::{Action, Application, Context, End, Event, Extent, TransferKind};
use crate::time::Time;
use crate::video::{Next, Playback, Player, VideoSpecification};

/// Bytes of a request: 3GPP2 C.R1002-0, HTTP model.
const REQUEST: u64 = 350;

#[derive(Debug)]
pub struct VideoPlan(VideoSpecification);

impl VideoPlan {
    pub fn new(given: &VideoSpecification) -> Result<VideoPlan, String> {
        given.check().map_err(|error| format!("video: {error}"))?;
        Ok(VideoPlan(given.clone()))
    }

    pub fn extent(&self) -> Extent {
        let VideoPlan(given) = self;
        let segments = given.length.map(|length| length.0.div_ceil(given.segment.0));
        let highest = given.ladder.last().map_or(0, |rate| rate.0) as f64 / 8.0;
        let bytes = highest * given.segment.seconds() * segments.unwrap_or(1) as f64;
        let requested = (REQUEST * segments.unwrap_or(1)) as f64;
        let rows = segments.map(|segments| segments as f64);
        Extent { connections: 1, bytes, requested, rows, pace: Some(given.segment) }
    }
}

#[derive(Debug)]
pub struct Video {
    player: Box<Player>,
    /// When the latest segment was requested, and its size.
    sent: Time,
    size: u64,
}

impl Video {
    pub fn new(plan: Arc<VideoPlan>, _serial: u64) -> Video {
        Video { player: Box::new(Player::new(&plan.0)), sent: Time::ZERO, size: 0 }
    }

    fn go_on(&mut self, next: Next, context: &mut Context) {
        match next {
            Next::Request(bytes) => {
                (self.sent, self.size) = (context.now, bytes);
                context.write(0, End::Client, REQUEST);
            }
            Next::WaitUntil(time) => context.act(Action::WakeAt(time)),
            Next::End => context.act(Action::End(End::Client)),
        }
    }
}

impl Application for Video {
    fn on_event(&mut self, event: Event, context: &mut Context) {
        match event {
            Event::Begun => {
                self.player.turn_on(context.now);
                context.act(Action::Open);
            }
            Event::Opened(_) | Event::Woken => {
                let next = self.player.next(context.now);
                self.go_on(next, context);
            }
            Event::Received { connection, at: End::Server } => context.write(connection, End::Server, self.size),
            Event::Received { at: End::Client, .. } => {
                context.act(Action::Complete { kind: TransferKind::Request, start: self.sent, bytes: self.size });
                let next = self.player.on_segment(context.now);
                self.go_on(next, context);
            }
            Event::Accepted(_) | Event::Room { .. } => {}
        }
    }

    fn open_window(&mut self, now: Time) {
        self.player.open_window(now);
    }

    fn playback(&mut self, now: Time) -> Option<Playback> {
        Some(self.player.playback(now))
    }
}
