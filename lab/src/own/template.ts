// The file that an algorithm of the page begins as: New Reno, as that of `sojourn new tcp`.

export const TEMPLATE = `class Mine extends CongestionControl {
  static title = "Additive increase and multiplicative decrease";

  static alpha = number(1, { least: 0, most: 100, doc: "Growth per round trip, in segments" });
  static beta = number(0.5, { least: 0, most: 1, doc: "Window after congestion, as a share of the flight size" });

  constructor() {
    super();
    this.growth = new Growth(); // keeps fractions of a byte for the next time
  }

  // Congestion avoidance. Slow start is the flow's.
  increase(window, ack) {
    this.growth.additive(window, this.alpha, ack.credit);
  }

  // The sender then sets cwnd to ssthresh, through its loss recovery.
  on_congestion(window, event) {
    if (event.kind === "loss" || event.kind === "ecn") {
      window.set_ssthresh(this.beta * event.flight_size);
    }
  }
}
`;
