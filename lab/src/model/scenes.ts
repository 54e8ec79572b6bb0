// The scenes of the page: a setting or two that tell a story, and steps through it.

import { WIFI } from "./keys";
import { LESSONS, type Step } from "./lessons";
import { beside, PRESETS, type Preset, queue } from "./presets";
import { type Change, path, type Setting, setting } from "./setting";

const MS = 1e9;
const S = 1e12;

export interface Scene extends Preset {
  /** Where time stands at first, in seconds, and how fast it goes; as usual where they are missing. */
  time?: number;
  speed?: number;
  steps: readonly Step[];
}

/** A call of 80 kbit/s, of packets of 200 bytes. */
const call = (roundTrip: number) =>
  path("call", "cbr", 1, roundTrip, { tcp: { name: "cbr", parameters: { rate: 80e3, packet_size: 200 } } });

/** Servers that answer one request, over links so fast that only the port to the client counts. */
function incast(): Setting {
  const made = setting(
    [path("servers", "cubic", 40, MS / 10, { start: 0, size: 64_000 })],
    { rate: 1e9 },
    { duration: 300 * MS, warm_up: 0, probe: { queue_series: MS / 10, flow_series: MS / 10 } },
  );
  for (const host of [...made.senders, made.receiver]) host.rate = 100e9;
  return made;
}

/** Mbit/s in each second of the trace examples/cellular.csv, from its first on: the mean of its ten values. */
const RADIO = [
  4.9, 2.9, 3, 2, 0.6, 0, 1.5, 1.7, 3.4, 2.1, 1.2, 0, 0, 0.4, 0.3, 0.2, 1.6, 2, 2.9, 4.1, 5.2, 3.7, 2.7, 2.6, 1.7, 0.7, 0, 0, 0,
  0.8,
];

const rates: Change[] = RADIO.slice(1).map((rate, second) => ({
  at: (second + 1) * S,
  rate: Math.round(rate * 1e6),
  delay: null,
  loss: null,
}));

const radio = setting([path("download", "cubic", 1, 60 * MS), call(60 * MS)], {
  rate: (RADIO[0] ?? 0) * 1e6,
  reverse: 5e6,
  changes: rates,
  limit: { packets: 1000 },
});

const wifi = setting(
  [path("download", "cubic", 2, 40 * MS), call(40 * MS)],
  { rate: 65e6, limit: { packets: 1000 }, aggregation: WIFI },
  { duration: 20 * S },
);

const update = setting([call(40 * MS), path("update", "cubic", 1, 40 * MS)], { rate: 10e6, limit: { packets: 500 } });

const NEW: Preset[] = [
  {
    id: "incast",
    title: "Incast",
    story:
      "Forty servers of a data centre answer at once, each with 64 kB, over one port of 1 Gbit/s with room for 100 packets. " +
      "Their first windows alone are four times as much, so packets are lost; who loses its last ones waits for its timeout, in A that of Linux, in B that of a data centre. " +
      "Vasudevan and others found that timeouts of 200 ms are what makes incast slow, and that shorter ones cure it.",
    paper: {
      text: "Vasudevan and others, Safe and Effective Fine-grained TCP Retransmissions for Datacenter Communication, SIGCOMM 2009",
      link: "https://doi.org/10.1145/1592568.1592604",
    },
    state: beside(incast(), (b) => {
      b.profile = "datacenter";
    }),
  },
  {
    id: "radio",
    title: "A radio link",
    story:
      "A download and a call share a radio link whose rate goes up and down each second, and is nothing for a while; A has DropTail, B has CoDel. " +
      "What fills the buffer while the link is fast has to leave it while the link is slow, so that in A packets wait for seconds. " +
      "Winstein, Sivaraman and Balakrishnan measured this on cellular links, and the rates are those of their model.",
    paper: {
      text: "Winstein, Sivaraman and Balakrishnan, Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks, NSDI 2013",
      link: "https://www.usenix.org/conference/nsdi13/technical-sessions/presentation/winstein",
    },
    state: beside(radio, (b) => Object.assign(b.bottleneck, queue("codel"))),
  },
  {
    id: "wifi",
    title: "Frames of Wi-Fi",
    story:
      "Two downloads and a call go through an access point of 65 Mbit/s, which sends up to 64 packets in a frame in A, and one in B. " +
      "Before each frame the radio waits for its turn, and after it for an acknowledgement, whatever is in the frame: with one packet in each, half of the time goes that way. " +
      "Høiland-Jørgensen and others reckon with this airtime, and put FQ-CoDel into Linux's Wi-Fi.",
    paper: {
      text: "Høiland-Jørgensen and others, Ending the Anomaly: Achieving Low Latency and Airtime Fairness in WiFi, USENIX ATC 2017",
      link: "https://www.usenix.org/conference/atc17/technical-sessions/presentation/hoilan-jorgesen",
    },
    state: beside(wifi, (b) => {
      b.bottleneck.aggregation = { ...WIFI, packets: 1 };
    }),
  },
  {
    id: "ledbat",
    title: "LEDBAT beside a call",
    story:
      "A call and an update of software share 10 Mbit/s; the update runs over CUBIC in A, over LEDBAT in B. " +
      "CUBIC fills the buffer until a packet is lost, and the call waits behind it; LEDBAT looks at the delay that it adds and stops at its target. " +
      "Shalunov and others wrote LEDBAT down in RFC 6817, for updates that nobody waits for.",
    paper: {
      text: "Shalunov, Hazel, Iyengar and Kühlewind, Low Extra Delay Background Transport (LEDBAT), RFC 6817, 2012",
      link: "https://www.rfc-editor.org/rfc/rfc6817",
    },
    state: beside(update, (b) => {
      for (const each of b.groups) if (each.group === "update") each.tcp.name = "ledbat";
    }),
  },
];

/** Where time stands at first in a scene, where that is not a third of its run at the usual speed. */
const MOMENTS: Record<string, Pick<Scene, "time" | "speed">> = { incast: { time: 0.002, speed: 0.001 } };

export const SCENES: readonly Scene[] = [...PRESETS, ...NEW].map((each) => ({
  ...each,
  ...MOMENTS[each.id],
  steps: LESSONS[each.id] ?? [],
}));
