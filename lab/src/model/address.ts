// The whole state in the address: a link is a finding. The text says which version of its form it has.

import type { Catalogue } from "./catalogue";
import { problemOf } from "./problems";
import type { State } from "./setting";
import { Wrong } from "./units";

/** Raised when the form of a state changes, so that an older page says so instead of guessing. */
const VERSION = 2;

export function toHash(state: State): string {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#v${VERSION}.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The state that an address holds; null if it holds none. A link that cannot be read is `Wrong`. */
export function fromHash(hash: string, known: Catalogue): State | null {
  if (hash === "" || hash === "#") return null;
  const match = /^#v([0-9]+)\.([A-Za-z0-9_-]*)$/.exec(hash);
  if (!match) throw new Wrong("This link holds no setting of the laboratory, so this is the first one.");
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
  const problem = problemOf(state, known);
  if (problem) throw new Wrong(`This link cannot be used: ${problem}`);
  return state;
}
