// Settings that tell a story, each in three sentences that name the paper.

import { path, type Setting, type State, setting } from "./setting";

const MS = 1e9;
const S = 1e12;

export interface Preset {
  id: string;
  title: string;
  story: string;
  paper: { text: string; link: string };
  state: State;
}

export function queue(name: string, parameters = {}): Pick<Setting["bottleneck"], "queue"> {
  return { queue: { name, parameters } };
}

/** The same twice, with a change. */
export function beside(a: Setting, change: (b: Setting) => void): State {
  const b = structuredClone(a);
  change(b);
  return { a, b, own: [] };
}

const downloads = setting(
  [
    path("download", "cubic", 2, 40 * MS),
    path("call", "cbr", 1, 40 * MS, { tcp: { name: "cbr", parameters: { rate: 80e3, packet_size: 200 } } }),
  ],
  { limit: { packets: 1000 } },
);

// Links and delays of the paper's data centre, scaled down tenfold in rate and up in delay, so that it runs while one looks.
const crowd = setting(
  [path("crowd", "newreno", 90, 20 * MS)],
  { rate: 100e6, ...queue("codel"), limit: { packets: 900 } },
  { duration: 12 * S, warm_up: 4 * S, profile: "ns3-3.30" },
);

export const PRESETS: Preset[] = [
  {
    id: "bufferbloat",
    title: "Bufferbloat",
    story:
      "Two downloads and a call share 20 Mbit/s, and the router has room for 1000 packets. " +
      "CUBIC slows down only when a packet is lost, so it keeps that room nearly full, and each packet of the call waits up to 0.6 s behind it. " +
      "Gettys and Nichols gave the disease its name: more memory has made the network worse.",
    paper: {
      text: "Gettys and Nichols, Bufferbloat: Dark Buffers in the Internet, ACM Queue 9(11), 2011",
      link: "https://doi.org/10.1145/2063166.2071893",
    },
    state: { a: downloads, b: null, own: [] },
  },
  {
    id: "codel",
    title: "CoDel to the rescue",
    story:
      "A is the deep buffer with DropTail, B the same with CoDel. " +
      "CoDel looks at how long packets wait, and drops one when all have waited more than 5 ms for 100 ms. " +
      "Nichols and Jacobson showed that this alone keeps the queue short at any rate, and the downloads lose next to nothing.",
    paper: {
      text: "Nichols and Jacobson, Controlling Queue Delay, ACM Queue 10(5), 2012",
      link: "https://doi.org/10.1145/2208917.2209336",
    },
    state: beside(downloads, (b) => Object.assign(b.bottleneck, queue("codel"))),
  },
  {
    id: "codel-crowd",
    title: "CoDel losing control at 900 flows",
    story:
      "A has 90 flows at 100 Mbit/s under CoDel, B has 900. " +
      "CoDel drops one packet at a time, only slowly faster, and a drop slows just one of 900 flows: the queue fills to its limit. " +
      "Piotrowska measured how disciplines and congestion controls fare from 9 to 900 flows, which Sojourn reproduces as a study.",
    paper: {
      text: "Piotrowska, On Cross-Layer Interactions for Congestion Control in the Internet, Applied Sciences 11(17), 2021",
      link: "https://doi.org/10.3390/app11177808",
    },
    state: beside(crowd, (b) => {
      for (const each of b.groups) each.count = 900;
    }),
  },
  {
    id: "bbr-cubic",
    title: "BBR beside CUBIC",
    story:
      "A flow of BBR and one of CUBIC share a bottleneck whose buffer is half of a bandwidth-delay product in A, and eight of them in B. " +
      "BBR keeps to the rate that it measures, whatever is lost, and takes most of a shallow buffer; behind a deep one CUBIC's queue outgrows what BBR lets be in flight. " +
      "Hock, Bless and Zitterbart measured BBR beside others with small buffers and large ones, and the losses that it causes in small ones.",
    paper: {
      text: "Hock, Bless and Zitterbart, Experimental Evaluation of BBR Congestion Control, ICNP 2017",
      link: "https://doi.org/10.1109/ICNP.2017.8117540",
    },
    state: beside(
      setting([path("bbr", "bbr", 1, 40 * MS), path("cubic", "cubic", 1, 40 * MS)], { limit: { bandwidth_delay_products: 0.5 } }),
      (b) => {
        b.bottleneck.limit = { bandwidth_delay_products: 8 };
      },
    ),
  },
  {
    id: "rtt-unfairness",
    title: "RTT unfairness",
    story:
      "One flow has a round trip of 20 ms, the other of 160 ms; both are New Reno in A, and CUBIC in B. " +
      "New Reno adds a segment a round trip, so the near flow grows faster and takes most of the link, while CUBIC's window grows with time. " +
      "Ha, Rhee and Xu designed CUBIC for this: its growth does not depend on the round-trip time.",
    paper: {
      text: "Ha, Rhee and Xu, CUBIC: A New TCP-Friendly High-Speed TCP Variant, ACM SIGOPS Operating Systems Review 42(5), 2008",
      link: "https://doi.org/10.1145/1400097.1400105",
    },
    state: beside(
      setting(
        [path("near", "newreno", 1, 20 * MS), path("far", "newreno", 1, 160 * MS)],
        { rate: 50e6, limit: { packets: 200 } },
        { duration: 60 * S, warm_up: 20 * S },
      ),
      (b) => {
        for (const each of b.groups) each.tcp.name = "cubic";
      },
    ),
  },
  {
    id: "lock-out",
    title: "Lock-out",
    story:
      "Two flows of New Reno share 800 kbit/s, the round trip of the second is 6 % longer, and nothing in the network is random. " +
      "With DropTail in A, the second one's packets always find the buffer full just then, so that the first gets twice as much; RED in B drops at random, before the buffer is full. " +
      "Floyd and Jacobson found these phase effects on this path, and RFC 7567 asks routers to prevent such lock-out.",
    paper: {
      text: "Floyd and Jacobson, On Traffic Phase Effects in Packet-Switched Gateways, ACM CCR 21(2), 1991",
      link: "https://doi.org/10.1145/122419.122421",
    },
    state: beside(
      setting(
        [path("first", "newreno", 1, 212 * MS, { start: 0 }), path("second", "newreno", 1, 224 * MS, { start: 0 })],
        { rate: 800e3, limit: { packets: 15 } },
        { duration: 100 * S, warm_up: 20 * S, profile: "ns2-2.35", sender_overhead: 0 },
      ),
      (b) => {
        Object.assign(b.bottleneck, queue("red", { min: { packets: 5 }, max: { packets: 15 } }), { limit: { packets: 60 } });
      },
    ),
  },
  {
    id: "l4s",
    title: "ECN and L4S",
    story:
      "A has CUBIC with classic ECN under CoDel, which marks instead of dropping; B has Prague beside CUBIC in the two queues of DualPI2. " +
      "Prague answers each mark a little and is marked often, so that its packets wait for a fraction of a millisecond, while CUBIC's queue stays as long as it needs. " +
      "De Schepper, Briscoe and White specify this coupling of the two queues in RFC 9332.",
    paper: {
      text: "De Schepper, Briscoe and White, Dual-Queue Coupled Active Queue Management for L4S, RFC 9332, 2023",
      link: "https://www.rfc-editor.org/rfc/rfc9332",
    },
    state: beside(
      setting(
        [
          path("cubic", "cubic", 1, 20 * MS, { stack: { ecn: "classic" } }),
          path("cubic too", "cubic", 1, 20 * MS, { stack: { ecn: "classic" } }),
        ],
        { rate: 40e6, ...queue("codel", { ecn: true }), limit: { packets: 1000 } },
      ),
      (b) => {
        const [, second] = b.groups;
        if (second) Object.assign(second, { group: "prague", tcp: { name: "prague", parameters: {} }, stack: {} });
        Object.assign(b.bottleneck, queue("dualpi2"));
      },
    ),
  },
  {
    id: "policer",
    title: "A policer",
    story:
      "A link of 40 Mbit/s would carry it all, but in A a policer lets 10 Mbit/s pass, with bursts of 25 kB, and drops the rest before the queue. " +
      "CUBIC sees losses in bursts and stays below the rate that it was sold; B has the same rate as a link with a queue, which delays instead. " +
      "Flach and others found policers all over the Internet, and six times as many losses behind them.",
    paper: {
      text: "Flach and others, An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016",
      link: "https://doi.org/10.1145/2934872.2934873",
    },
    state: beside(setting([path("video", "cubic", 2, 40 * MS)], { rate: 40e6, policer: { rate: 10e6, burst: 25_000 } }), (b) =>
      Object.assign(b.bottleneck, { rate: 10e6, policer: null }),
    ),
  },
  {
    id: "pie-droptail",
    title: "PIE as DropTail",
    story:
      "PIE in A holds its delay near 15 ms; in B its buffer has room for only 15 ms of packets. " +
      "PIE drops at random only once packets wait, so behind so small a buffer the limit is what drops them, and PIE is DropTail by another name. " +
      "Pan and others wrote PIE down in RFC 8033, whose default target and buffer leave room between the two.",
    paper: {
      text: "Pan, Natarajan, Baker and White, Proportional Integral Controller Enhanced (PIE), RFC 8033, 2017",
      link: "https://www.rfc-editor.org/rfc/rfc8033",
    },
    state: beside(
      setting([path("downloads", "cubic", 8, 30 * MS)], { rate: 20e6, ...queue("pie"), limit: { packets: 500 } }),
      (b) => {
        b.bottleneck.limit = { packets: 25 };
      },
    ),
  },
];
