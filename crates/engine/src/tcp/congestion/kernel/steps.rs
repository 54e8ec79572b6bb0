//! Growth in whole segments: Linux tcp_cong.c, tcp_cong_avoid_ai.

use crate::tcp::window::Window;

/// Acknowledged segments that have not yet increased the window: `snd_cwnd_cnt`.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    pub count: u64,
}

impl Steps {
    /// Counts acknowledged segments and increases the window by one for each `every` of them. A count left from a larger
    /// `every` gives one segment at once.
    pub fn additive(&mut self, window: &mut Window, every: u64, acked: u64) {
        if self.count >= every {
            self.count = 0;
            window.cwnd += window.mss;
        }
        self.count += acked;
        if self.count >= every {
            let steps = self.count / every;
            self.count -= steps * every;
            window.cwnd += steps * window.mss;
        }
    }

    /// Restarts the count, as any reduction does: Linux tcp_input.c, tcp_init_cwnd_reduction and tcp_enter_loss.
    pub fn restart(&mut self) {
        self.count = 0;
    }
}
