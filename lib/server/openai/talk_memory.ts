import { sha256 } from "../../core/sha256.ts";
import { comparable } from "./talk_history.ts";
import type { Said } from "./talk_history.ts";

/** A conversation, as it stood when its last answer was told. */
export interface RememberedTalk {
  readonly id: string;
  /** The number of its last message. */
  readonly last: number;
}

/** Whose history it is. */
export interface TalkOwner {
  /** The file of the agent. */
  readonly agent: string;
  readonly user: string | undefined;
}

const MOST = 1_000;

/** Which conversation has which history, of those that were answered last. Texts are known by their hash alone. */
export class TalkMemory {
  readonly #talks = new Map<string, RememberedTalk>();

  find(owner: TalkOwner, history: readonly Said[]): RememberedTalk | undefined {
    return this.#talks.get(keyOf(owner, history));
  }

  keep(owner: TalkOwner, history: readonly Said[], talk: RememberedTalk): void {
    const key = keyOf(owner, history);
    this.#talks.delete(key); // so that it becomes the newest
    this.#talks.set(key, talk);
    for (const oldest of this.#talks.keys()) {
      if (this.#talks.size <= MOST) break;
      this.#talks.delete(oldest);
    }
  }
}

function keyOf({ agent, user = "" }: TalkOwner, history: readonly Said[]): string {
  return sha256(JSON.stringify([agent, user, comparable(history)]));
}
