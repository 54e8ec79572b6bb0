//! Applications: what happens above the connections of a session. A session is a client and a server with connections between them,
//! on which both ends write.
//!
//! An application is a state machine without a clock. The run tells it [`Event`]s, and it answers with [`Action`]s. What it draws comes
//! from a random stream of its session. It knows nothing of packets: a *message* is what one write sent, and is received when its last
//! byte has arrived at the other end, in order.
//!
//! To add one: write its file with an implementation of [`Application`], name it in `applications!` with
//! what its sessions share, and its settings in [`ApplicationSpecification`].

mod exchanges;
mod frames;
mod page;
mod periodic;
mod vectors;
mod video;

use std::sync::Arc;

use crate::random::Random;
use crate::specification::ApplicationSpecification;
use crate::time::{Duration, Time};
use crate::video::Playback;

pub use exchanges::{Exchanges, ExchangesPlan};
pub use page::{Page, PagePlan};
pub use periodic::{Periodic, PeriodicPlan};
pub use vectors::{Vectors, VectorsPlan};
pub use video::{Video, VideoPlan};

/// An end of a session's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that opens connections.
    Client,
    /// The other one, at which the flow's data begin.
    Server,
}

impl End {
    #[must_use]
    pub fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// What happens to an application. Connections have numbers from zero on, in the order in which they were opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The session begins. It has no connections.
    Begun,
    /// The client's handshake is complete. The server may write when it has received something, or with [`Event::Accepted`].
    Opened(usize),
    /// The server's handshake is complete.
    Accepted(usize),
    /// A message has arrived: the next of those that the other end wrote on this connection.
    Received { connection: usize, at: End },
    /// The server may write this many bytes, with no more waiting than it asked for: the answer to [`Action::AwaitRoom`].
    Room {
        connection: usize,
        /// One at least.
        bytes: u64,
    },
    /// The time of the latest [`Action::WakeAt`] has come.
    Woken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The client opens the next connection.
    Open,
    /// An end of an open connection writes a message, of one byte at least.
    Write { connection: usize, from: End, bytes: u64 },
    /// Asks for one [`Event::Room`], once fewer than `waiting` bytes of what the server wrote wait for the window.
    AwaitRoom {
        connection: usize,
        /// How many may wait; one at least.
        waiting: u64,
    },
    /// The application is to be woken at a time, which replaces an earlier one that has not come.
    WakeAt(Time),
    /// Something is complete that began at a time: a row of `transfers`.
    Complete {
        kind: TransferKind,
        start: Time,
        /// Bytes of payload from the server.
        bytes: u64,
    },
    /// The session ends at an end, which closes its connections; the other end closes each when it learns of that.
    End(End),
}

/// What a row of `transfers` is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransferKind {
    /// All data of a connection.
    #[default]
    Transfer,
    /// A request and its response.
    Request,
    /// A page with all its objects.
    Page,
    /// A message of a source that writes at equal times.
    Report,
}

impl TransferKind {
    pub fn name(self) -> &'static str {
        match self {
            TransferKind::Transfer => "transfer",
            TransferKind::Request => "request",
            TransferKind::Page => "page",
            TransferKind::Report => "report",
        }
    }
}

/// What an application has at hand when something happens.
#[derive(Debug)]
pub struct Context<'a> {
    pub now: Time,
    pub random: &'a mut Random,
    pub actions: &'a mut Vec<Action>,
}

impl Context<'_> {
    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    fn write(&mut self, connection: usize, from: End, bytes: u64) {
        self.act(Action::Write { connection, from, bytes });
    }
}

pub trait Application {
    fn on_event(&mut self, event: Event, context: &mut Context);

    fn open_window(&mut self, _now: Time) {}

    /// What a viewer has seen since the start of the measuring window, if the application is video.
    fn playback(&mut self, _now: Time) -> Option<Playback> {
        None
    }
}

/// What is known of the sessions of an application before any begins, for estimates.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Connections of a session at the same time, at most.
    pub connections: u64,
    /// Mean bytes of a session from the server.
    pub bytes: f64,
    /// The same from the client.
    pub requested: f64,
    /// Rows of `transfers` of a session, at most; none if it does not end.
    pub rows: Option<f64>,
    /// The mean time between rows of one that does not end, if the application says it; else round trips bound it.
    pub pace: Option<Duration>,
}

macro_rules! applications {
    ($($name:ident($plan:ident)),* $(,)?) => {
        /// What the sessions of a group share: a checked specification of their application.
        #[derive(Clone, Debug)]
        pub enum Blueprint {
            $(#[doc = concat!("Of [`", stringify!($name), "`].")] $name(Arc<$plan>),)*
        }

        impl Blueprint {
            pub fn new(specification: &ApplicationSpecification) -> Result<Blueprint, String> {
                match specification {
                    $(ApplicationSpecification::$name(given) => {
                        $plan::new(given).map(|plan| Blueprint::$name(Arc::new(plan)))
                    })*
                }
            }

            pub fn extent(&self) -> Extent {
                match self { $(Blueprint::$name(plan) => plan.extent(),)* }
            }

            /// The application of the session with this serial number in its group.
            pub fn begin(&self, serial: u64) -> Session {
                match self { $(Blueprint::$name(plan) => Session::$name($name::new(Arc::clone(plan), serial)),)* }
            }
        }

        #[derive(Debug)]
        pub enum Session {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
        }

        impl Application for Session {
            dispatch! { Session [$($name)*]
                fn on_event(&mut self, event: Event, context: &mut Context);
                fn open_window(&mut self, now: Time);
                fn playback(&mut self, now: Time) -> Option<Playback>;
            }
        }
    };
}

applications! {
    Exchanges(ExchangesPlan),
    Page(PagePlan),
    Vectors(VectorsPlan),
    Periodic(PeriodicPlan),
    Video(VideoPlan),
}
