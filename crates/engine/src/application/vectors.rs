//! Connection vectors: what the applications of a recorded connection wrote, and when, apart from what the network did (Weigle,
//! Adurthi, Hernandez-Campos, Jeffay and Smith, "Tmix: A Tool for Generating Realistic TCP Application Workloads in ns-2", CCR 36(3),
//! 2006). The client is Tmix's initiator, the server its acceptor.
//!
//! In a sequential connection a write that answers one of the other end waits until that has arrived, and then for a time; one that
//! follows a write of the same end leaves a time after it. In a concurrent connection each end writes by itself, each time a while after
//! it wrote before.

use std::sync::Arc;

use super::{Action, Application, Context, End, Event, Extent, TransferKind};
use crate::specification::{ConnectionVector, VectorsSpecification};
use crate::time::Time;

#[derive(Debug)]
pub struct VectorsPlan {
    vectors: Vec<Arc<ConnectionVector>>,
}

impl VectorsPlan {
    pub fn new(given: &VectorsSpecification) -> Result<VectorsPlan, String> {
        if given.vectors.is_empty() {
            return Err("vectors: must be at least one".to_owned());
        }
        for (index, vector) in given.vectors.iter().enumerate() {
            let is_size = |bytes: u64| (1..=1 << 53).contains(&bytes);
            if vector.writes.is_empty() || !vector.writes.iter().all(|write| is_size(write.bytes)) {
                return Err(format!("vectors[{index}]: must have writes, of 1 to 2^53 bytes each"));
            }
        }
        Ok(VectorsPlan { vectors: given.vectors.iter().cloned().map(Arc::new).collect() })
    }

    pub fn extent(&self) -> Extent {
        let count = self.vectors.len() as f64;
        let writes = |at_server: bool| {
            let all = self.vectors.iter().flat_map(|vector| &vector.writes);
            all.filter(move |write| write.at_server == at_server)
        };
        let mean = |at_server| writes(at_server).map(|write| write.bytes as f64).sum::<f64>() / count;
        let rows = Some(writes(true).count() as f64 / count);
        Extent { connections: 1, bytes: mean(true), requested: mean(false), rows, pace: None }
    }
}

#[derive(Debug)]
pub struct Vectors {
    vector: Arc<ConnectionVector>,
    /// The remaining writes: all in one lane if the connection is sequential, else those of the client and those of the server.
    lanes: [Lane; 2],
    /// How many have arrived.
    arrived: usize,
    /// When the client wrote after the latest answer, and the bytes of the answer so far.
    asked: Option<Time>,
    answer: u64,
}

/// Writes, one after another.
#[derive(Debug)]
struct Lane {
    next: usize,
    /// When the next is due, if that is known.
    due: Time,
}

impl Vectors {
    /// The application of a session: those of a group take the vectors in turn.
    pub fn new(plan: Arc<VectorsPlan>, serial: u64) -> Vectors {
        let index = serial % plan.vectors.len() as u64;
        let vector = Arc::clone(&plan.vectors[index as usize]);
        let lane = || Lane { next: 0, due: Time::NEVER };
        let mut made = Vectors { vector, lanes: [lane(), lane()], arrived: 0, asked: None, answer: 0 };
        made.lanes[0].next = made.following(0, 0);
        made.lanes[1].next = if made.vector.concurrent { made.following(1, 0) } else { made.vector.writes.len() };
        made
    }

    fn end(&self, write: usize) -> Option<End> {
        let write = self.vector.writes.get(write)?;
        Some(if write.at_server { End::Server } else { End::Client })
    }

    /// The first write of a lane from one on.
    fn following(&self, lane: usize, from: usize) -> usize {
        let writes = self.vector.writes.iter().skip(from);
        let place = writes.take_while(|write| self.vector.concurrent && usize::from(write.at_server) != lane).count();
        from + place
    }

    /// The next write of a lane is due a while after now.
    fn schedule(&mut self, lane: usize, now: Time) {
        let next = self.lanes[lane].next;
        self.lanes[lane].due = self.vector.writes.get(next).map_or(Time::NEVER, |write| now + write.wait);
    }

    /// An end may write: it does if the first write of a lane is its own.
    fn open(&mut self, end: End, context: &mut Context) {
        for lane in 0..2 {
            let next = self.lanes[lane].next;
            if next == self.following(lane, 0) && self.end(next) == Some(end) {
                self.schedule(lane, context.now);
            }
        }
        self.proceed(context);
    }

    /// Writes what is due, and asks to be woken for what comes next.
    fn proceed(&mut self, context: &mut Context) {
        for lane in 0..2 {
            while self.lanes[lane].due <= context.now {
                self.write(lane, context);
            }
        }
        let due = self.lanes[0].due.min(self.lanes[1].due);
        if due != Time::NEVER {
            context.act(Action::WakeAt(due));
        }
    }

    fn write(&mut self, lane: usize, context: &mut Context) {
        let write = self.lanes[lane].next;
        let Some(end) = self.end(write) else { return };
        if end == End::Client {
            self.asked = self.asked.or(Some(context.now));
        }
        context.write(0, end, self.vector.writes[write].bytes);
        self.lanes[lane].next = self.following(lane, write + 1);
        self.lanes[lane].due = Time::NEVER;
        if self.vector.concurrent || self.end(write + 1) == Some(end) {
            self.schedule(lane, context.now);
        }
    }

    fn on_arrival(&mut self, at: End, context: &mut Context) {
        let arrived = self.arrived;
        self.arrived += 1;
        if !self.vector.concurrent {
            self.note_answer(arrived, at, context);
        }
        if self.arrived == self.vector.writes.len() {
            return context.act(Action::End(at));
        }
        // In order, since in a sequential connection an end answers only what has arrived.
        let answers = self.lanes[0].next == self.arrived && self.end(self.arrived) == Some(at);
        if !self.vector.concurrent && answers && self.lanes[0].due == Time::NEVER {
            self.schedule(0, context.now);
        }
        self.proceed(context);
    }

    /// An answer is complete when the last write of the server before one of the client has arrived.
    fn note_answer(&mut self, write: usize, at: End, context: &mut Context) {
        if at == End::Server {
            return;
        }
        self.answer += self.vector.writes[write].bytes;
        if self.end(write + 1) != Some(End::Server) {
            let bytes = std::mem::take(&mut self.answer);
            if let Some(start) = self.asked.take() {
                context.act(Action::Complete { kind: TransferKind::Request, start, bytes });
            }
        }
    }
}

impl Application for Vectors {
    fn on_event(&mut self, event: Event, context: &mut Context) {
        match event {
            Event::Begun => context.act(Action::Open),
            Event::Opened(_) => self.open(End::Client, context),
            Event::Accepted(_) => self.open(End::Server, context),
            Event::Received { at, .. } => self.on_arrival(at, context),
            Event::Woken => self.proceed(context),
            Event::Room { .. } => {}
        }
    }
}
