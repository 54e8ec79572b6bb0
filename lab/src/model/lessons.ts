// Steps through the scenes: what to do, what to look at, and what there is to see. Each number that is seen is claimed, and held to the
// run by tests/test_lab_stories.py; the others are those of the setting.

import type { Changes } from "./changes";

/** Where to look. */
export type Part = "stages" | "numbers" | "queue" | "cwnd" | "shares" | "sojourn";

export interface Step {
  task: string;
  look: string;
  part: Part;
  /** What is changed in the scene. */
  changes?: Changes;
  /** A moment of the run, in seconds, and how fast it is shown. */
  time?: number;
  speed?: number;
  seen: string;
  /** Of each number in what is seen, as it is written there: side, measure, and the group of flows that it is of, if not of all. */
  claims: Record<string, string>;
}

export const LESSONS: Record<string, readonly Step[]> = {
  bufferbloat: [
    {
      task: "Play the run from its first second.",
      look: "The packets in the queue, and how long the oldest has been there.",
      part: "stages",
      time: 0.5,
      seen: "The downloads fill the router, and a packet of the call waits 500 ms on average.",
      claims: { "500 ms": "a wait call" },
    },
    {
      task: "Make the buffer smaller: 50 packets.",
      look: "The mean wait of the call, and the goodput of the downloads.",
      part: "numbers",
      changes: { "bottleneck.queue.limit": "50 packets" },
      seen: "The call waits 23 ms, and the downloads still get 19.2 Mbit/s.",
      claims: { "23 ms": "a wait call", "19.2 Mbit/s": "a goodput download" },
    },
    {
      task: "Leave the buffer deep, and give each flow a queue of its own: FQ-CoDel.",
      look: "The distribution of sojourn times.",
      part: "sojourn",
      changes: { "bottleneck.queue.name": "fq_codel" },
      seen: "The call waits 0.5 ms, the downloads 2.6 ms, and they get 19.0 Mbit/s.",
      claims: { "0.5 ms": "a wait call", "2.6 ms": "a wait download", "19.0 Mbit/s": "a goodput download" },
    },
  ],
  codel: [
    {
      task: "Compare both sides at the same moment.",
      look: "The two queues over time.",
      part: "queue",
      seen: "Of a hundred packets ninety-nine wait no longer than 585 ms in A, and 7.6 ms in B.",
      claims: { "585 ms": "a p99", "7.6 ms": "b p99" },
    },
    {
      task: "Ask CoDel for a shorter queue: a target of 1 ms in B.",
      look: "Mean sojourn, utilisation and goodput of B.",
      part: "numbers",
      changes: { "b.bottleneck.queue.target": "1 ms" },
      seen: "Packets wait 1.5 ms on average, and 97 % of the link is used.",
      claims: { "1.5 ms": "b wait", "97 %": "b utilisation" },
    },
    {
      task: "Look for CoDel's limit: 100 downloads in B.",
      look: "The queue of B.",
      part: "queue",
      changes: { "b.flows.0.count": "100" },
      seen: "With so many flows packets wait 63 ms on average.",
      claims: { "63 ms": "b wait" },
    },
  ],
  "codel-crowd": [
    {
      task: "Compare the queues of 90 flows and of 900.",
      look: "The queues over time.",
      part: "queue",
      seen: "On average a packet waits 17 ms in A, and 103 ms in B.",
      claims: { "17 ms": "a wait", "103 ms": "b wait" },
    },
    {
      task: "Give B another discipline: PIE.",
      look: "The queue of B.",
      part: "queue",
      changes: { "b.bottleneck.queue.name": "pie" },
      seen: "PIE drops by a probability that grows with the load: a packet waits 15 ms, which is its target.",
      claims: { "15 ms": "b wait" },
    },
  ],
  "bbr-cubic": [
    {
      task: "Compare the shares of A and B.",
      look: "The throughput of both flows over time.",
      part: "shares",
      seen: "BBR has 90 % of the goodput in A, and 17 % in B.",
      claims: { "90 %": "a share bbr", "17 %": "b share bbr" },
    },
    {
      task: "Find the buffer at which they share: 2 BDP in A.",
      look: "The throughput in A.",
      part: "shares",
      changes: { "a.bottleneck.queue.limit": "2 BDP" },
      seen: "BBR has 58 % of the goodput.",
      claims: { "58 %": "a share bbr" },
    },
    {
      task: "Take BBR's third version in A.",
      look: "Drops and shares of A.",
      part: "numbers",
      changes: { "a.flows.0.tcp.name": "bbr3" },
      seen: "It slows down at losses, and has 47 % of the goodput.",
      claims: { "47 %": "a share bbr" },
    },
  ],
  "rtt-unfairness": [
    {
      task: "Compare how both flows grow.",
      look: "The congestion windows.",
      part: "cwnd",
      seen: "The near flow has 91 % of the goodput in A, and 73 % in B.",
      claims: { "91 %": "a share near", "73 %": "b share near" },
    },
    {
      task: "Let the queue share instead: FQ-CoDel in A.",
      look: "The throughput in A.",
      part: "shares",
      changes: { "a.bottleneck.queue.name": "fq_codel" },
      seen: "The near flow has 58 % of the goodput.",
      claims: { "58 %": "a share near" },
    },
  ],
  "lock-out": [
    {
      task: "Slow down, and watch whose packets are dropped in A.",
      look: "The colours of the packets that fall at the entrance.",
      part: "stages",
      time: 40,
      speed: 0.3,
      seen: "The first flow has 67 % of the goodput in A, and 50 % in B.",
      claims: { "67 %": "a share first", "50 %": "b share first" },
    },
    {
      task: "Let each sender take a random time over each packet, in A.",
      look: "The throughput in A.",
      part: "shares",
      changes: { "a.sender_overhead": "15 ms" },
      seen: "That breaks the phase: the first flow has 42 % of the goodput.",
      claims: { "42 %": "a share first" },
    },
  ],
  l4s: [
    {
      task: "Compare the two flows of B.",
      look: "The rings around packets that leave B marked.",
      part: "stages",
      speed: 0.01,
      seen: "Prague's packets wait 0.2 ms on average, CUBIC's 15 ms.",
      claims: { "0.2 ms": "b wait prague", "15 ms": "b wait cubic" },
    },
    {
      task: "Put both into one queue: CoDel in B.",
      look: "The shares of B.",
      part: "shares",
      changes: { "b.bottleneck.queue.name": "codel", "b.bottleneck.queue.ecn": "true" },
      seen: "Marked like CUBIC, Prague takes 94 % of the goodput.",
      claims: { "94 %": "b share prague" },
    },
  ],
  policer: [
    {
      task: "Compare what the two downloads get.",
      look: "Goodput and retransmissions.",
      part: "numbers",
      seen: "Behind the policer they get 9.0 Mbit/s and send 215 segments again; behind a link of the same rate 9.7 Mbit/s, and 19 segments.",
      claims: {
        "9.0 Mbit/s": "a goodput",
        "215 segments": "a retransmissions",
        "9.7 Mbit/s": "b goodput",
        "19 segments": "b retransmissions",
      },
    },
    {
      task: "Sell longer bursts: 250 kB in A.",
      look: "The goodput of A.",
      part: "numbers",
      changes: { "a.bottleneck.impairments.policer.burst": "250 kB" },
      seen: "Now they get 9.7 Mbit/s.",
      claims: { "9.7 Mbit/s": "a goodput" },
    },
  ],
  "pie-droptail": [
    {
      task: "Compare the two queues.",
      look: "The queues over time.",
      part: "queue",
      seen: "Packets wait 15 ms on average in A, and 12 ms in B.",
      claims: { "15 ms": "a wait", "12 ms": "b wait" },
    },
    {
      task: "Give PIE room in B: 100 packets.",
      look: "The queue of B.",
      part: "queue",
      changes: { "b.bottleneck.queue.limit": "100 packets" },
      seen: "Packets wait 15.5 ms on average, about as long as in A.",
      claims: { "15.5 ms": "b wait" },
    },
  ],
  incast: [
    {
      task: "Play the first milliseconds.",
      look: "The packets that fall at the entrance of the queue.",
      part: "stages",
      time: 0,
      speed: 0.001,
      seen: "The last server is done after 218 ms in A, and after 25.7 ms in B.",
      claims: { "218 ms": "a done", "25.7 ms": "b done" },
    },
    {
      task: "Give the port room for all: 1000 packets in A.",
      look: "The queue, and the time after which it is empty.",
      part: "queue",
      changes: { "a.bottleneck.queue.limit": "1000 packets" },
      seen: "Nothing is lost: 830 packets are queued at most, and the last server is done after 21.4 ms.",
      claims: { "830 packets": "a longest", "21.4 ms": "a done" },
    },
    {
      task: "Let fewer servers answer: 4 in A.",
      look: "The queue of A.",
      part: "queue",
      changes: { "a.flows.0.count": "4" },
      seen: "0 packets are dropped, and the last server is done after 2.3 ms.",
      claims: { "0 packets": "a drops", "2.3 ms": "a done" },
    },
  ],
  radio: [
    {
      task: "Compare the queues when the rate falls.",
      look: "The queues from 3 s on.",
      part: "queue",
      time: 5,
      seen: "On average a packet waits 5.1 s in A, and 138 ms in B; the download gets 1.45 Mbit/s in A and 1.24 Mbit/s in B.",
      claims: { "5.1 s": "a wait", "138 ms": "b wait", "1.45 Mbit/s": "a goodput download", "1.24 Mbit/s": "b goodput download" },
    },
    {
      task: "Leave DropTail, and take BBR for the download of A.",
      look: "The wait of A.",
      part: "numbers",
      changes: { "a.flows.0.tcp.name": "bbr" },
      seen: "BBR follows the rate that it measures, and a packet waits 470 ms on average.",
      claims: { "470 ms": "a wait" },
    },
  ],
  wifi: [
    {
      task: "Compare what the downloads get.",
      look: "Goodput and utilisation.",
      part: "numbers",
      seen: "Long frames carry 57.7 Mbit/s, single packets 31.6 Mbit/s.",
      claims: { "57.7 Mbit/s": "a goodput download", "31.6 Mbit/s": "b goodput download" },
    },
    {
      task: "Take frames of 8 packets in B.",
      look: "The goodput of B.",
      part: "numbers",
      changes: { "b.bottleneck.aggregation.packets": "8 packets" },
      seen: "That is enough for 54.5 Mbit/s.",
      claims: { "54.5 Mbit/s": "b goodput download" },
    },
    {
      task: "Give A FQ-CoDel, as Linux has it for Wi-Fi.",
      look: "The sojourn times of A.",
      part: "sojourn",
      changes: { "a.bottleneck.queue.name": "fq_codel" },
      seen: "The mean wait falls to 2.5 ms.",
      claims: { "2.5 ms": "a wait" },
    },
  ],
  ledbat: [
    {
      task: "Compare the two updates.",
      look: "The queues over time.",
      part: "queue",
      seen: "A packet of the call waits 477 ms in A, and 82 ms in B; the update gets 9.8 Mbit/s in A, and 9.6 Mbit/s in B.",
      claims: {
        "477 ms": "a wait call",
        "82 ms": "b wait call",
        "9.8 Mbit/s": "a goodput update",
        "9.6 Mbit/s": "b goodput update",
      },
    },
    {
      task: "Ask LEDBAT for less: a target of 25 ms in B.",
      look: "The queue of B.",
      part: "queue",
      changes: { "b.flows.1.tcp.target": "25 ms" },
      seen: "The call waits 25 ms: as long as LEDBAT is told to.",
      claims: { "25 ms": "b wait call" },
    },
    {
      task: "Protect the call in A instead: FQ-CoDel.",
      look: "The sojourn times of A.",
      part: "sojourn",
      changes: { "a.bottleneck.queue.name": "fq_codel" },
      seen: "The call waits 0.7 ms beside CUBIC.",
      claims: { "0.7 ms": "a wait call" },
    },
  ],
};
