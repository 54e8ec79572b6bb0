//! The sessions of a group that are open.

use super::places::Places;
use crate::application::{Application, Blueprint, Session};
use crate::random::Random;
use crate::time::Time;
use crate::video::Playback;

/// See the module.
#[derive(Debug)]
pub struct Sessions {
    blueprint: Blueprint,
    begun: u64,
    pub open: Places<Running>,
    /// What viewers have seen in sessions that are over, if the sessions are video.
    seen: Option<Playback>,
}

/// A session under way.
#[derive(Debug)]
pub struct Running {
    pub session: Session,
    pub random: Random,
    /// When its timer expires, if it does.
    pub wakes: Time,
    /// Of each connection the numbers of the directions from the client and from the server.
    pub connections: Vec<(u32, u32)>,
}

impl Sessions {
    pub fn new(blueprint: Blueprint) -> Sessions {
        Sessions { blueprint, begun: 0, open: Places::default(), seen: None }
    }

    /// The next begins, with the random stream of its serial number, which is returned.
    pub fn begin(&mut self, random: impl Fn(u32) -> Random) -> u32 {
        let session = self.blueprint.begin(self.begun);
        self.begun += 1;
        self.open.insert(|serial| Running {
            session,
            random: random(serial),
            wakes: Time::NEVER,
            connections: Vec::new(),
        })
    }

    /// One is over.
    pub fn end(&mut self, session: u32, now: Time) -> Option<Running> {
        let (_, mut running) = *self.open.remove(session)?;
        self.seen = self.seen.into_iter().chain(running.session.playback(now)).reduce(Playback::with);
        Some(running)
    }

    /// All are over. Returns how many there were.
    pub fn abort(&mut self, now: Time) -> u64 {
        self.seen = self.seen(now);
        std::mem::take(&mut self.open).taken as u64
    }

    /// The measuring window opens.
    pub fn open_window(&mut self, now: Time) {
        self.seen = self.seen.map(|seen| seen.in_new_window());
        for running in self.open.iter_mut() {
            running.session.open_window(now);
        }
    }

    /// What viewers have seen in all sessions, if these are video.
    pub fn seen(&mut self, now: Time) -> Option<Playback> {
        let open = self.open.iter_mut().filter_map(|running| running.session.playback(now));
        self.seen.into_iter().chain(open).reduce(Playback::with)
    }
}
