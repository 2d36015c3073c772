// A process that holds a conversation, for the tests that kill it: deno run -A _conversation_child.ts FOLDER PORT USER [ID]. Each line that
// it prints is an event, and the last one, `done`, what was said.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAgent, memoryFiles, openCollection, openConversation } from "../mod.ts";
import type { AnyGadget, Conversation, ConversationModelRequest, Journal, RunEvent } from "../mod.ts";
import { killableAgent, MESSAGES, openStore } from "./_killable_conversation.ts";
import { pause } from "./_waiting.ts";

const [folder = "", port = "", user = "", id] = Deno.args;

const print = (line: unknown): void =>
  void Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));

/** The same for the same log, in whatever process. */
async function* answer({ step, kind, messages }: ConversationModelRequest): AsyncGenerator<string> {
  await pause(2);
  if (kind === "extractor") return yield '{"name": "Ana"}';
  if (kind === "validator") return yield '{"polite": {"decision": true, "explanation": "She is."}}';
  for (const piece of [step, " of ", `${messages.length}`]) {
    yield piece;
    await pause(1);
  }
}

function gadget(name: string, isIdempotent: boolean): AnyGadget {
  return {
    name,
    description: "Adds a line to a file.",
    ...(isIdempotent && { idempotent: true }),
    run: async (input) => {
      const { name } = Object(input);
      await pause(3);
      appendFileSync(join(folder, "effects.txt"), `${name}\n`);
      await pause(3);
      return `${name} done`;
    },
  };
}

/** Whoever goes on looks what was done; what was not is done by hand, but for the first gadget, which is left to the conversation. */
function settle(store: Journal): void {
  const open = store.read(conversation.id).steps.filter(({ status, idempotent }) =>
    status === "started" && !idempotent
  );
  for (const { key, input } of open) {
    const { name } = Object(input);
    const isDone = readFileSync(join(folder, "effects.txt"), "utf8").split("\n").includes(name);
    if (!isDone && name.startsWith("one")) continue;
    if (!isDone) appendFileSync(join(folder, "effects.txt"), `${name}\n`);
    const run = store.open(conversation.id);
    run.settle(key, { outcome: { ok: `${name} done` } });
    run.release("stopped");
  }
}

function next({ status, turns, log }: Conversation): AsyncIterable<RunEvent> {
  if (status !== "held") return conversation.retry();
  if (turns === 0) return conversation.start();
  return conversation.say(MESSAGES[log.filter(({ who }) => who === "user").length] ?? "");
}

const files = memoryFiles({
  "a.collection.yml": 'version: "0.1"\ndocuments: [ { id: r, file: r.md, metadata: { name: Rivers } } ]\n',
  "r.md": "# Rivers\n\nA river runs to the sea.\n",
});
using collection = await openCollection("a.collection.yml", { world: { root: "/project", files } });
using store = openStore(folder);
const agent = await loadAgent({ file: "a.agent.yml", text: killableAgent(Number(port)) });
const conversation = await openConversation(agent, {
  store,
  user,
  model: answer,
  fetch,
  collection,
  gadgets: [gadget("Once", false), gadget("Safe", true)],
  ...(id === undefined ? {} : { id }),
});
let error: string | undefined;
print({ type: "id", id: conversation.id });
for (let turns = 0; conversation.status !== "completed"; turns++) {
  if (turns > 20) throw new Error(`the conversation does not end: ${conversation.status} ${error}`);
  if (conversation.status === "running") settle(store);
  for await (const event of next(conversation)) {
    print(event);
    if (event.type === "run-end") error = event.error;
  }
}
print({ type: "done", log: conversation.log, slots: conversation.slots() });
