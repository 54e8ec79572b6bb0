// What is shown, in the address. A scene has its name there, and what was changed in it, readable: `#bbr-cubic&b.bottleneck.queue.limit=4+BDP`.
// Any other state is whole in it, with the version of its form.

import type { Catalogue } from "./catalogue";
import { type Changes, changed, differences, toChanges } from "./changes";
import { problemOf } from "./problems";
import { isTable } from "./reading";
import type { Scene } from "./scenes";
import { completed, type Setting, type State } from "./setting";
import { DURATION, parse, Wrong } from "./units";

/** Raised when the form of a state changes in more than keys that are new. */
const VERSION = 2;

export interface Shown {
  state: State;
  /** The scene that it is, or was changed from. */
  scene: string | null;
  /** A title of the user's. */
  title: string | null;
  /** In seconds of the run, and seconds of the run a second. */
  time: number | null;
  speed: number | null;
  /** Whether the page is a part of another. */
  isEmbedded: boolean;
  /** What of the link could not be shown. */
  problem: string | null;
}

const SIDES = ["a", "b"] as const;

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("%20", "+").replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function whole(state: State): string {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `v${VERSION}.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The algorithms of the page that its flows name. */
function usedIn(state: State): State["own"] {
  const groups = [...state.a.groups, ...(state.b?.groups ?? [])];
  return state.own.filter((own) => groups.some((each) => each.tcp.name === own.name));
}

/** What a state has changed in a scene, as a link says it; null if a link cannot. */
function changesOf(state: State, scene: State, known: Catalogue): Changes | null {
  if (usedIn(state).length) return null;
  const isTwo = state.b !== null;
  const of: [string, Setting, Setting | null][] = [["a", scene.a, state.a]];
  // A second side that the scene does not have begins as its first.
  if (state.b) of.push(["b", scene.b ?? scene.a, state.b]);
  const changes: Changes = isTwo === (scene.b !== null) ? {} : { b: isTwo ? "on" : "off" };
  for (const [side, from, to] of of) {
    const found = to && differences(from, to, known);
    if (!found || JSON.stringify(from.probe) !== JSON.stringify(to.probe)) return null;
    const prefix = isTwo ? `${side}.` : "";
    for (const [key, text] of Object.entries(toChanges(found))) changes[prefix + key] = text;
  }
  return changes;
}

export function toHash(shown: Pick<Shown, "state"> & Partial<Shown>, known: Catalogue, scenes: readonly Scene[]): string {
  const { state, time = null, speed = null } = shown;
  const scene = scenes.find((each) => each.id === shown.scene);
  const changes = scene ? changesOf(state, scene.state, known) : null;
  const more = [
    ...(time === null ? [] : [["time", `${Number(time.toFixed(6))} s`]]),
    ...(speed === null ? [] : [["speed", speed < 1 ? `1/${Math.round(1 / speed)}` : String(speed)]]),
    ...(shown.title ? [["title", shown.title]] : []),
    ...(shown.isEmbedded ? [["embed", "on"]] : []),
  ] as [string, string][];
  const readable = Object.entries(changes ?? {});
  const first = changes ? [scene?.id] : scene ? [scene.id, `state=${whole(state)}`] : [whole(state)];
  return `#${[...first, ...[...readable, ...more].map(([key, text]) => `${key}=${encode(text)}`)].join("&")}`;
}

function fromWhole(text: string, known: Catalogue): State {
  const match = /^v([0-9]+)\.([A-Za-z0-9_-]*)$/.exec(text);
  if (!match) throw new Wrong("This link was cut short or changed on its way, so it cannot be read: ask for it again.");
  if (Number(match[1]) !== VERSION) {
    throw new Wrong(
      `This link is of version ${match[1]} of the laboratory, and this page reads version ${VERSION}: open it with the page that made it.`,
    );
  }
  let state: State;
  try {
    const binary = atob((match[2] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    state = JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (each) => each.charCodeAt(0)))) as State;
  } catch {
    throw new Wrong("This link was cut short or changed on its way, so it cannot be read: ask for it again.");
  }
  if (isTable(state)) state = completed(state);
  const problem = problemOf(state, known);
  if (problem) throw new Wrong(`This link cannot be used: ${problem}`);
  return state;
}

/** What an address shows; null if it says nothing. What is wrong in it is told, and left out. */
export function fromHash(hash: string, known: Catalogue, scenes: readonly Scene[]): Shown | null {
  const [first = "", ...rest] = hash.replace(/^#/, "").split("&");
  if (first === "") return null;
  const usual = scenes[0] as Scene;
  const shown: Shown = {
    state: usual.state,
    scene: usual.id,
    title: null,
    time: null,
    speed: null,
    isEmbedded: false,
    problem: null,
  };
  const wrong = (what: string): void => {
    shown.problem ??= what;
  };
  const attempt = (act: () => void, before = ""): void => {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      wrong(before + error.message);
    }
  };
  const scene = scenes.find((each) => each.id === decode(first));
  if (scene) Object.assign(shown, { scene: scene.id, state: scene.state });
  else if (/^v[0-9]/.test(first)) {
    attempt(() => Object.assign(shown, { state: fromWhole(first, known), scene: null }));
  } else {
    wrong(
      `This page has no scene "${decode(first)}", so this is the first one. It has: ${scenes.map(({ id }) => id).join(", ")}.`,
    );
  }
  const changes: Changes = {};
  for (const part of rest) {
    const at = part.indexOf("=");
    const [key, text] = at < 0 ? [decode(part), null] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
    if (text === null) wrong(`This link was cut short: "${key}" has no value, and is left out.`);
    else if (key === "state") attempt(() => (shown.state = fromWhole(text, known)), "What was changed cannot be shown. ");
    else if (key === "title") shown.title = text.slice(0, 120);
    else if (key === "embed") shown.isEmbedded = text === "on";
    else if (key === "time") attempt(() => (shown.time = parse(text, DURATION) / 1e12), "time: ");
    else if (key === "speed") attempt(() => (shown.speed = speedOf(text)));
    else if (scene) changes[key] = text;
  }
  shown.state = structuredClone(shown.state);
  if (scene) applyChanges(shown.state, changes, known, wrong);
  return shown;
}

function speedOf(text: string): number {
  const [, above = "", , below = "1"] = /^([0-9.]+)(\/([0-9]+))?$/.exec(text) ?? [];
  const speed = Number(above) / Number(below);
  if (above === "" || !(speed >= 0.001 && speed <= 10)) throw new Wrong(`speed: "${text}" is not a speed from 1/1000 to 10`);
  return speed;
}

/** Makes the changes that can be made, one after the other where they cannot be made together. */
export function applyChanges(state: State, changes: Changes, known: Catalogue, wrong: (what: string) => void): void {
  const { b: two = null, ...others } = changes;
  if (two === "on" && !state.b) state.b = structuredClone(state.a);
  if (two === "off") state.b = null;
  for (const side of SIDES) {
    const setting = state[side];
    const of = Object.entries(others).flatMap(([key, text]) => {
      const [, given = "a", rest = ""] = /^(?:([ab])\.)?(.*)$/.exec(key) ?? [];
      return given === side ? [[rest, text] as const] : [];
    });
    if (!of.length) continue;
    if (!setting) {
      wrong(`${side}.${of[0]?.[0]} is left out: there is no setting B.`);
      continue;
    }
    try {
      state[side] = changed(setting, Object.fromEntries(of), known);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      for (const [key, text] of of) {
        try {
          state[side] = changed(state[side] ?? setting, { [key]: text }, known);
        } catch (again) {
          if (!(again instanceof Wrong)) throw again;
          wrong(`${key}=${text} is left out: ${again.message}`);
        }
      }
    }
  }
}
