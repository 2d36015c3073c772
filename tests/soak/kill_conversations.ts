// A conversation with every kind of step, killed 200 times at random moments, several times in one, and gone on with.

import assert from "node:assert/strict";
import { heldToTheEnd, killablePlace, surviveConversation } from "../_killable_conversation.ts";
import type { Kill } from "../_killable_conversation.ts";
import { randomFrom } from "./random.ts";

const KILLS = 200;
const MOST_KILLS = 8;
const LONGEST_MS = 12;

/** Kills it everywhere; gives what was seen. The number that the random moments come from is in the message of what fails. */
export async function killConversations(): Promise<string> {
  await using place = await killablePlace();
  const want = await heldToTheEnd(place, "nobody kills");
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  const random = randomFrom(seed);
  let [killed, held, unverified] = [0, 0, 0];
  const met = new Map<string, number>();
  while (killed < KILLS) {
    const most = 1 + random(MOST_KILLS);
    // What is left when one is killed is shorter: the first kills may be anywhere, the others come soon.
    const kills = Array.from({ length: most }, (_, index): Kill => ({
      event: random(index === 0 ? want.events : Math.ceil(2 * want.events / most)),
      afterMs: random(LONGEST_MS),
    }));
    const user = `seed ${seed}, conversation ${++held}`;
    const seen = await surviveConversation(place, { user, want, kills });
    killed += seen.kills;
    unverified += seen.unverified;
    for (const kind of seen.met) met.set(kind, (met.get(kind) ?? 0) + 1);
  }
  for (const kind of ["model", "http", "gadget"]) assert.ok(met.has(kind), `no ${kind} step was killed`);
  const kinds = [...met].map(([kind, count]) => `${count} in a ${kind} step`).join(", ");
  return `${killed} processes killed in ${held} conversations (${kinds}), each ended as if none had been, ` +
    `${unverified} calls were not done again unasked`;
}
