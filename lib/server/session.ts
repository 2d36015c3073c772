// What the page has in place of the token: a cookie, got for a link that works once. Links live in memory, and end with the process. A
// session is sealed with the token: a server that is started again with the same one knows it still, and one with another token does not.

import { type Clock, sha256 } from "../core/core.ts";
import { isSameText } from "./guard.ts";

const LINK_MS = 5 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** More than anybody opens; the oldest one goes. */
const MOST_LINKS = 1_000;

/** The sessions of the page and the links that begin one. */
export class Sessions {
  readonly #clock: Clock;
  readonly #key: string;
  readonly #time: () => number;
  readonly #links = new Map<string, number>();

  /** @param options.key the token of the server. Default: nobody knows it. @param options.time ms since 1970 */
  constructor(
    clock: Clock,
    { key = randomName(), time = Date.now }: {
      readonly key?: string;
      readonly time?: () => number;
    } = {},
  ) {
    this.#clock = clock;
    this.#key = key;
    this.#time = time;
  }

  /** The code of a new link. It works once, within five minutes. */
  link(): string {
    const code = randomName();
    this.#links.set(code, this.#clock.now() + LINK_MS);
    const [oldest] = this.#links.size > MOST_LINKS ? this.#links.keys() : [];
    if (oldest !== undefined) this.#links.delete(oldest);
    return code;
  }

  /** Whether the link would work now. */
  isLink(code: string): boolean {
    return this.#clock.now() < (this.#links.get(code) ?? -Infinity);
  }

  /** The session that a link begins; undefined when there is no such link, or no more. */
  follow(code: string): string | undefined {
    const isLink = this.isLink(code);
    this.#links.delete(code);
    return isLink ? this.begin() : undefined;
  }

  /** A new session, for whoever has shown the token. */
  begin(): string {
    const id = `${this.#time() + SESSION_MS}.${randomName()}`;
    return `${id}.${this.#seal(id)}`;
  }

  has(session: string): boolean {
    const end = session.lastIndexOf(".");
    const id = session.slice(0, Math.max(0, end));
    return isSameText(session.slice(end + 1), this.#seal(id)) && this.#time() < Number(id.split(".", 1)[0]);
  }

  /** Twice, so that nothing can be put behind what was sealed. */
  #seal(id: string): string {
    return sha256(`${this.#key} ${sha256(`${this.#key} ${id}`)}`);
  }
}

/** 32 random bytes as base64url: a token, a session, a link. */
export function randomName(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The header that gives the browser its session; it goes back to this server alone, and to no page of another site. */
export function sessionCookie(name: string, session: string): string {
  return `${name}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${SESSION_MS / 1000}`;
}
