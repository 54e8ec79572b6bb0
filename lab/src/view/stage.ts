// The dumbbell, drawn: senders, the queue with its packets one by one, the bottleneck, the receiver. Packets have the colours of
// their flows; what is dropped falls out, and what is marked leaves with a ring.

import { FATES, type Packets } from "../engine/protocol";
import { passes } from "../model/links";
import { deepest, type Queues, queuesOf } from "../model/queues";
import { readAt } from "../model/readings";
import { isUpward, rateAt, roundTrip, type Setting } from "../model/setting";
import { approximate, DURATION, formatLimit, RATE } from "../model/units";
import { flowColours, groupColours } from "./colours";
import type { Data } from "./data";
import { h, look, Seldom } from "./dom";
import { disciplineOf } from "./figures";

/** Of the screen's time: how long a packet travels, and falls. */
const TRAVEL = 0.55;
const FALL = 0.7;
/** Packets drawn on a link at once; of more, some. */
const MOST_MOVING = 220;
/** Bytes of packets that are drawn small, such as acknowledgements. */
const SMALL = 200;
/** Queues that have their name beside them. */
const MOST_NAMED = 10;

export class Stage {
  private readonly context: CanvasRenderingContext2D;
  private setting: Setting | null = null;
  private packets: Packets | null = null;
  /** The greatest `left` of each packet and those before it: where the queue begins is found by it. */
  private leftBefore = new Float64Array();
  /** Dropped packets by the time of their drop, and those that travel in order of leaving. */
  private dropped: number[] = [];
  private sent: number[] = [];
  private colours: string[] = [];
  private most = 1;
  /** The queues of a discipline that has several, and the most packets in one of them. */
  private queues: Queues | null = null;
  private deepest = 1;
  private data: Data | null = null;
  /** What the discipline goes by, in words. */
  private readonly state = h("p", { class: "state" });
  private readonly reading = new Seldom(() => this.tell());
  private moment: number | null = null;
  /** How many are queued now. */
  queued = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser has no canvas");
    this.context = context;
    canvas.after(this.state);
  }

  show(data: Data): void {
    const { setting, packets } = data;
    const most = data.queue.reduce((greatest, each) => Math.max(greatest, each), 1);
    this.data = data;
    this.setting = setting;
    this.colours = flowColours(setting);
    if (packets !== this.packets || !packets) {
      this.packets = packets;
      const count = packets?.arrived.length ?? 0;
      this.leftBefore = new Float64Array(count);
      const [dropped, sent]: [number[], number[]] = [[], []];
      let before = 0;
      for (let row = 0; packets && row < count; row += 1) {
        const left = packets.left[row] ?? NaN;
        const fate = packets.fate[row];
        before = Math.max(before, Number.isNaN(left) ? Infinity : left);
        this.leftBefore[row] = before;
        if (fate === FATES.dropped) dropped.push(row);
        else if (fate !== FATES.queued) sent.push(row);
      }
      const byLeft = (a: number, b: number): number => (packets?.left[a] ?? 0) - (packets?.left[b] ?? 0);
      this.dropped = dropped.sort(byLeft);
      this.sent = sent.sort(byLeft);
      this.queues = packets && queuesOf(setting, packets);
      this.deepest = packets && this.queues ? deepest(this.queues, packets, [this.sent, this.dropped]) : 1;
    }
    const limit = setting.bottleneck.limit;
    this.most = Math.max(8, most * 1.1, limit && "packets" in limit ? Math.min(limit.packets, most * 2.5) : 0);
  }

  /** Draws a moment; `speed` is seconds of the run a second of the screen. */
  draw(time: number | null, speed: number): void {
    const { canvas, context, setting } = this;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!setting || !width) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const narrow = width < 560;
    const left = width < 420 ? 54 : narrow ? 84 : 110;
    const box = { x: left + width * 0.15, y: 26, width: width * (narrow ? 0.36 : 0.42), height: height - 84 };
    const middle = box.y + box.height / 2;
    const receiver = { x: width - (narrow ? 34 : 64), y: middle };
    this.links(setting, time ?? 0, left, box, middle, receiver, narrow);
    this.moment = time;
    this.reading.ask();
    if (!this.packets || time === null) {
      this.words(box, narrow, this.packets ? [] : ["…"]);
      return;
    }
    this.moving(setting, time, speed, left, box, middle, receiver);
    this.queue(time, box, narrow);
    this.falling(time, speed, box);
  }

  private hostY(index: number, count: number, middle: number, height: number): number {
    if (count === 1) return middle;
    const room = Math.min(height, count * 46);
    return middle - room / 2 + (room * index) / (count - 1);
  }

  private links(setting: Setting, time: number, left: number, box: Box, middle: number, receiver: Point, narrow: boolean): void {
    const { context } = this;
    const count = setting.groups.length;
    const colours = groupColours(setting);
    context.font = `${narrow ? 10 : 12}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    setting.groups.forEach((each, index) => {
      if (!passes(setting, each)) return;
      const y = this.hostY(index, count, middle, box.height - 10);
      context.strokeStyle = look("--line");
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(left, y);
      context.bezierCurveTo(left + (box.x - left) * 0.5, y, left + (box.x - left) * 0.5, middle, box.x, middle);
      context.stroke();
      this.host(left, y, colours[index] ?? "", narrow);
      context.textAlign = "right";
      const [at, room] = [left - 12, left - 14];
      const many = each.arrivals ? "… × " : each.count > 1 ? `${each.count} × ` : "";
      this.fitted("--ink", `${isUpward(setting, each) ? "← " : ""}${many}${each.tcp.name}`, at, y - (narrow ? 5 : 7), room);
      this.fitted("--muted", approximate(roundTrip(setting, each), DURATION), at, y + (narrow ? 6 : 8), room);
    });
    // The bottleneck is as thin as it is slow.
    context.strokeStyle = look("--line");
    context.lineWidth = 5;
    context.beginPath();
    context.moveTo(box.x + box.width, middle);
    context.lineTo(receiver.x, receiver.y);
    context.stroke();
    context.textAlign = "center";
    const { loss, limit, policer, queue, aggregation } = setting.bottleneck;
    const [centre, room] = [(box.x + box.width + receiver.x) / 2, receiver.x - box.x - box.width - 12];
    this.fitted("--ink", approximate(rateAt(setting, time), RATE), centre, middle - 16, room);
    if (loss) this.fitted("--muted", `${100 * loss} % lost`, centre, middle + 16, room);
    this.host(receiver.x, receiver.y, look("--ink"), narrow);
    this.fitted("--muted", "receiver", receiver.x, receiver.y + 18, 64);
    // The queue's room.
    context.fillStyle = look("--well");
    context.strokeStyle = look("--line");
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, 6);
    context.fill();
    context.stroke();
    const before = policer ? `policer ${approximate(policer.rate, RATE)} + ` : "";
    const frames = aggregation ? `, frames of ${aggregation.packets}` : "";
    const above = `${before}${queue.name}, ${limit === null ? "no limit" : formatLimit(limit)}${frames}`;
    this.fitted("--ink", above, box.x + box.width / 2, 13, box.width + box.x - left);
  }

  private host(x: number, y: number, colour: string, narrow: boolean): void {
    const { context } = this;
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, narrow ? 5 : 7, 0, 7);
    context.fill();
  }

  private fitted(colour: string, text: string, x: number, y: number, room: number): void {
    this.context.fillStyle = look(colour);
    this.context.fillText(text, x, y, Math.max(20, room));
  }

  /** Below the queue, between what falls out at its ends. */
  private words(box: Box, narrow: boolean, parts: string[]): void {
    const { context } = this;
    const isSlim = box.width < 360;
    context.font = `600 ${narrow ? 12 : isSlim ? 13 : 15}px system-ui, sans-serif`;
    context.textAlign = "center";
    const lines = isSlim ? parts : [parts.join(", ")];
    lines.forEach((line, index) =>
      this.fitted("--ink", line, box.x + box.width / 2, box.y + box.height + 18 + 18 * index, box.width - 40),
    );
  }

  /** The packets, in order of leaving, that left in a span before a moment; of many, some. Each with its share of the span. */
  private *leaving(
    { left }: Packets,
    rows: readonly number[],
    time: number,
    span: number,
  ): Generator<[row: number, share: number]> {
    const first = (moment: number): number => firstOf(rows.length, (at) => (left[rows[at] ?? 0] ?? 0) >= moment);
    for (const at of some(first(time - span), first(time))) {
      const row = rows[at] ?? 0;
      yield [row, (time - (left[row] ?? 0)) / span];
    }
  }

  private colourOf(packets: Packets, row: number): string {
    return this.colours[packets.flow[row] ?? 0] ?? "#888";
  }

  /** What the discipline goes by at a moment. */
  private tell(): void {
    const time = this.moment;
    if (!this.data || time === null) return;
    const discipline = disciplineOf(this.data);
    const words = readAt(discipline?.state, this.data.inside.discipline, time, this.data.intervals.queue_series / 1e12);
    const text = words.length ? `${discipline?.title}: ${words.join(" · ")}` : "";
    if (this.state.textContent !== text) this.state.textContent = text;
  }

  /** The packets of each queue of a discipline that has several, a row a queue, the next to leave at the right. */
  private rows(queues: Queues, time: number, box: Box, rows: readonly number[]): void {
    const { context, packets } = this;
    if (!packets) return;
    const count = queues.names.length;
    const high = (box.height - 4) / count;
    const isNamed = count <= MOST_NAMED;
    const room = isNamed ? Math.min(170, box.width * 0.6) : 0;
    const wide = box.width - 8 - room;
    const size = Math.max(1.5, Math.min(15, high - 2, Math.sqrt((wide * (high - 2)) / (this.deepest * 1.1))));
    const lines = Math.max(1, Math.floor((high - 2) / size));
    const most = lines * Math.floor(wide / size);
    const gap = size > 5 ? 1 : size > 3 ? 0.5 : 0;
    const lengths = queues.names.map(() => 0);
    const oldest = queues.names.map(() => 0);
    for (const row of rows) {
      const queue = queues.of(row);
      const index = lengths[queue] ?? 0;
      lengths[queue] = index + 1;
      if (index === 0) oldest[queue] = time - (packets.arrived[row] ?? time);
      if (index >= most) continue;
      context.fillStyle = this.colourOf(packets, row);
      const x = box.x + box.width - 4 - size * (1 + Math.floor(index / lines));
      const y = box.y + 2 + high * queue + high - 1 - size * (1 + (index % lines));
      context.fillRect(x, y, size - gap, size - gap);
    }
    context.strokeStyle = look("--line");
    context.lineWidth = 0.5;
    context.beginPath();
    for (let queue = 1; queue < count && high > 4; queue += 1) {
      context.moveTo(box.x, box.y + 2 + high * queue);
      context.lineTo(box.x + box.width, box.y + 2 + high * queue);
    }
    context.stroke();
    if (!isNamed) return;
    context.textAlign = "left";
    context.font = `${Math.max(9, Math.min(12, high - 2))}px system-ui, sans-serif`;
    queues.names.forEach((name, queue) => {
      const age = lengths[queue] ? `, ${Number((1000 * (oldest[queue] ?? 0)).toPrecision(2))} ms` : "";
      this.fitted("--ink", `${name}: ${lengths[queue]}${age}`, box.x + 6, box.y + 2 + high * (queue + 0.5), room - 6);
    });
  }

  private queue(time: number, box: Box, narrow: boolean): void {
    const { packets } = this;
    if (!packets) return;
    const rows = this.queuedAt(time);
    this.queued = rows.length;
    if (this.queues) this.rows(this.queues, time, box, rows);
    else this.pile(packets, rows, box, narrow);
    const oldest = rows.length ? time - (packets.arrived[rows[0] ?? 0] ?? time) : 0;
    const queued = `${rows.length} packet${rows.length === 1 ? "" : "s"} queued`;
    this.words(box, narrow, [queued, `the oldest for ${(1000 * oldest).toFixed(oldest < 0.1 ? 1 : 0)} ms`]);
  }

  /** The packets of one queue, the next to leave at the lower right. */
  private pile(packets: Packets, rows: readonly number[], box: Box, narrow: boolean): void {
    const { context } = this;
    const size = Math.max(2, Math.min(narrow ? 11 : 15, Math.sqrt(((box.width - 10) * (box.height - 10)) / this.most)));
    const high = Math.max(1, Math.floor((box.height - 8) / size));
    const room = high * Math.floor((box.width - 8) / size);
    const gap = size > 5 ? 1 : size > 3 ? 0.5 : 0;
    for (let index = 0; index < Math.min(rows.length, room); index += 1) {
      const row = rows[index] ?? 0;
      context.fillStyle = this.colourOf(packets, row);
      const x = box.x + box.width - 4 - size * (1 + Math.floor(index / high));
      const y = box.y + box.height - 4 - size * (1 + (index % high));
      context.fillRect(x, y, size - gap, size - gap);
    }
  }

  /** The rows of the packets that are queued at a moment, in order of arrival. */
  private queuedAt(time: number): number[] {
    const { packets, leftBefore } = this;
    if (!packets) return [];
    const end = bound(packets.arrived, time);
    const rows: number[] = [];
    for (let row = bound(leftBefore, time); row < end; row += 1) {
      const left = packets.left[row] ?? NaN;
      if (!(left <= time)) rows.push(row);
    }
    return rows;
  }

  private moving(setting: Setting, time: number, speed: number, left: number, box: Box, middle: number, receiver: Point): void {
    const { context, packets } = this;
    if (!packets) return;
    const span = TRAVEL * speed;
    const dotOf = (row: number): number => ((packets.size[row] ?? 1500) < SMALL ? 1.7 : 3);
    // On the way to the queue.
    const groups = setting.groups.flatMap((each, index) => new Array<number>(each.count).fill(index));
    for (const row of some(bound(packets.arrived, time), bound(packets.arrived, time + span))) {
      const share = 1 - ((packets.arrived[row] ?? 0) - time) / span;
      const y = this.hostY(groups[packets.flow[row] ?? 0] ?? 0, setting.groups.length, middle, box.height - 10);
      // The same curve as the link's.
      const bend = left + (box.x - left) * 0.5;
      const back = 1 - share;
      const x = back ** 3 * left + 3 * back * back * share * bend + 3 * back * share * share * bend + share ** 3 * box.x;
      const ease = back ** 3 * y + 3 * back * back * share * y + 3 * back * share * share * middle + share ** 3 * middle;
      context.fillStyle = this.colourOf(packets, row);
      const dot = dotOf(row);
      context.fillRect(x - dot, ease - dot, 2 * dot, 2 * dot);
    }
    // On the bottleneck.
    const begin = box.x + box.width;
    for (const [row, share] of this.leaving(packets, this.sent, time, span)) {
      const x = begin + (receiver.x - begin) * share;
      context.fillStyle = this.colourOf(packets, row);
      const dot = dotOf(row);
      context.fillRect(x - dot, middle - dot, 2 * dot, 2 * dot);
      if (packets.fate[row] === FATES.marked) {
        context.strokeStyle = look("--mark");
        context.lineWidth = 2;
        context.strokeRect(x - dot - 2.5, middle - dot - 2.5, 2 * dot + 5, 2 * dot + 5);
      }
    }
  }

  private falling(time: number, speed: number, box: Box): void {
    const { context, packets } = this;
    if (!packets) return;
    for (const [row, share] of this.leaving(packets, this.dropped, time, FALL * speed)) {
      // One that was dropped on arrival falls at the entrance, one that had been queued at the exit.
      const wasQueued = (packets.left[row] ?? 0) > (packets.arrived[row] ?? 0);
      const aside = ((row * 37) % 17) - 8;
      const x = (wasQueued ? box.x + box.width - 10 : box.x + 4) + aside * share;
      const y = box.y + box.height - 6 + (58 - 6) * share * share;
      const size = 7;
      context.globalAlpha = 1 - 0.6 * share;
      context.fillStyle = this.colourOf(packets, row);
      context.strokeStyle = look("--drop");
      context.lineWidth = 1.5;
      context.fillRect(x - size / 2, y - size / 2, size, size);
      context.strokeRect(x - size / 2 - 1, y - size / 2 - 1, size + 2, size + 2);
      context.globalAlpha = 1;
    }
  }
}

interface Point {
  x: number;
  y: number;
}

interface Box extends Point {
  width: number;
  height: number;
}

/** How many of the sorted values are not above a bound. */
function bound(values: Float64Array, most: number): number {
  return firstOf(values.length, (at) => (values[at] ?? 0) > most);
}

/** The places from one up to another; of many, some, which do not depend on where they begin. */
function* some(from: number, until: number): Generator<number> {
  const stride = Math.max(1, Math.ceil((until - from) / MOST_MOVING));
  for (let at = Math.ceil(from / stride) * stride; at < until; at += stride) yield at;
}

/** The first of so many places from which on something holds, or their number. */
function firstOf(count: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const at = (low + high) >> 1;
    if (holds(at)) high = at;
    else low = at + 1;
  }
  return low;
}
