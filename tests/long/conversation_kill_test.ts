// A conversation whose process is killed with SIGKILL in every kind of step, and gone on with: it ends as if it had not been, nothing is
// said twice, and no request of a finished step is made again. `deno task soak` kills 200 times, at random moments.

import assert from "node:assert/strict";
import {
  heldToTheEnd,
  killablePlace,
  surviveConversation,
  surviveStrictly,
} from "../_killable_conversation.ts";
import type { Kill } from "../_killable_conversation.ts";
import { isThorough } from "../_thorough.ts";

const at = (event: Kill["event"], afterMs = 1): Kill => ({ event, afterMs });
const start = (key: string, kind: string, afterMs = 2): Kill => at(`"key":"main/${key}/${kind}"`, afterMs);

/** Each list is one conversation. */
const KILLS: readonly (readonly Kill[])[] = [
  [
    at(0, 0),
    at(5, 0),
    start("name", "model"),
    start("polite", "model"),
    at('"text":"ask"'),
    start("look", "retrieve", 0),
  ],
  [
    start("rounds/get", "http"),
    start("rounds/post#2", "http", 3),
    at('"step":"put","text":"upon '),
    at('"type":"call-run","step":"main/once"', 2),
    at('"type":"call-run","step":"main/safe"', 4),
  ],
  [
    at('"type":"call-run","step":"main/once"', 4),
    start("sum", "model"),
    start("both/s2", "http", 3),
    at('"type":"call-run","step":"main/both/do/once2"', 4),
  ],
  [
    at('"type":"call-run","step":"main/both/do/once2"', 1),
    start("both/talk/p1", "http"),
    start("both/do/l3", "model", 3),
    at('"type":"hold","step":"l3"', 0),
    at('"type":"message","step":"last"', 0),
  ],
];

Deno.test("a conversation that is killed goes on: nothing is said twice, nothing finished is done again", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using place = await killablePlace();
  const want = await heldToTheEnd(place, "nobody kills");
  let [count, unverified] = [0, 0];
  const met = new Set<string>();
  const missing = () => ["gadget", "http", "model"].filter((kind) => !met.has(kind));
  const [most, unknown] = isThorough ? [20, 2] : [8, 1];
  const isEnough = () => count >= most && unverified >= unknown && missing().length === 0;
  // On a busy machine a process may be past the moment before the signal comes: then its kills are tried again.
  for (const [index, kills] of [...KILLS, ...KILLS, ...KILLS].entries()) {
    if ((!isThorough || index >= KILLS.length) && isEnough()) break;
    const seen = await surviveConversation(place, { user: `user ${index}`, want, kills });
    count += seen.kills;
    unverified += seen.unverified;
    for (const kind of seen.met) met.add(kind);
  }
  assert.ok(count >= most, `only ${count} kills met a conversation`);
  assert.ok(unverified >= unknown, `only ${unverified} calls were cut off`);
  assert.deepEqual(missing(), []);
});

Deno.test("a conversation each of whose steps is entered twice ends as if none had been", async () => {
  await using place = await killablePlace();
  const want = await heldToTheEnd(place, "nobody is lost");
  for (const seed of [1, 2]) {
    const losses = await surviveStrictly(place, { user: `user ${seed}`, want, seed });
    const kinds = [/^turn/, /model$/, /http/, /retrieve/, /once/, /safe/];
    for (const kind of kinds) assert.ok([...losses.keys()].some((key) => kind.test(key)), String(kind));
    assert.deepEqual(new Set(losses.values()), new Set(["before its effect", "behind its effect"]));
  }
});
