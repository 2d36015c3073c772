// What the page has in place of the token: a cookie, got for a link that works once. Both live in memory, and end with the process.

import type { Clock } from "../core/clock.ts";

const LINK_MS = 5 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** More than anybody opens; the oldest one goes. */
const MOST = 1_000;

/** The sessions of the page and the links that begin one. */
export class Sessions {
  readonly #clock: Clock;
  readonly #links = new Map<string, number>();
  readonly #sessions = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The code of a new link. It works once, within five minutes. */
  link(): string {
    return this.#add(this.#links, LINK_MS);
  }

  /** Whether the link would work now. */
  isLink(code: string): boolean {
    return this.#clock.now() < (this.#links.get(code) ?? -Infinity);
  }

  /** The session that a link begins; undefined when there is no such link, or no more. */
  follow(code: string): string | undefined {
    const until = this.#links.get(code) ?? -Infinity;
    this.#links.delete(code);
    return this.#clock.now() < until ? this.begin() : undefined;
  }

  /** A new session, for whoever has shown the token. */
  begin(): string {
    return this.#add(this.#sessions, SESSION_MS);
  }

  has(id: string): boolean {
    const until = this.#sessions.get(id);
    return until !== undefined && this.#clock.now() < until;
  }

  #add(kept: Map<string, number>, ms: number): string {
    const id = randomName();
    kept.set(id, this.#clock.now() + ms);
    const [oldest] = kept.size > MOST ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return id;
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
