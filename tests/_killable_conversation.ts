// A conversation with every kind of step, held by a process that is killed again and again: what must hold after each kill is asserted here.
// Requests are counted by the server that gets them, and gadgets add a line to a file, where no journal can be wrong about them.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AnyGadget,
  type Conversation,
  type ConversationModelRequest,
  type Journal,
  type Json,
  loadAgent,
  memoryFiles,
  memoryJournal,
  openCollection,
  openConversation,
  openJournal,
  type RunEvent,
  type StepRecord,
} from "../mod.ts";
import { type Loss, strictJournal } from "./_strict_steps.ts";
import { PROJECT_ROOT, testEnvironment } from "./_run.ts";
import { pause } from "./_waiting.ts";

/** When a process is killed: so many ms after an event, the so-manieth one or the first whose line has the text. */
export interface Kill {
  readonly event: number | string;
  readonly afterMs: number;
}

/** What people say, in order. */
export const MESSAGES = ["I am Ana", "What of the river?", "both at once", "again", "good bye"] as const;

/** The agent: its requests go to this port. */
export function killableAgent(port: number): string {
  const flows = "success: { action: continue }, fail: { goto: lost }";
  const url = `http://127.0.0.1:${port}`;
  return `version: "0.1"
structure:
  id: killable
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: name, extractor: { values: [ { description: a name, target: { slot: { name: name } } } ], ${flows} } }
      - { id: polite, validator: { goals: [ { name: polite, goal: It is polite. } ], ${flows} } }
      - { id: visits, counter: { slot: { name: visits, destination: global } } }
      - { id: ask, llm: { prompts: [ { system: "Speak to {{name}}." } ], memory: [ { selector: all } ], store: { slot: { name: asked } }, hold: true } }
      - { id: question, set-slot: { values: [ { path: { name: question }, value: "river {{name}}" }, { path: { name: n }, value: 0 } ] } }
      - { id: look, retriever: { query: { name: question }, target: { slot: { name: found } } } }
      - id: rounds
        conditions: [ { name: n, condition: { less-than: 3 } } ]
        chain:
          - { id: n, counter: { slot: { name: n } } }
          - { id: get, api-call: { method: GET, url: "${url}/get?n={{n}}&name={{name}}", response-path: $.answer, target: { slot: { name: got } }, ${flows} } }
          - { id: post, api-call: { method: POST, url: "${url}/post?n={{n}}", body: { got: "{{got}}" }, response-path: $.answer, target: { slot: { name: posted } }, ${flows} } }
          - { id: round, message: { message: "{{n}}: {{got}}, {{posted}}" } }
          - { id: more, flow: { action: repeat } }
      - { id: put, sse-call: { method: PUT, url: "${url}/sse?name={{name}}", body: "{{found}}", response-path: $.text, store: { slot: { name: streamed } } } }
      - { id: once, gadget: { name: Once, input: { name: "one {{n}}" }, target: { slot: { name: once } } } }
      - { id: safe, gadget: { name: Safe, input: { name: "two {{n}}" }, target: { slot: { name: safe } } } }
      - { id: sum, summarizer: { type: append } }
      - id: both
        combined:
          - id: talk
            chain:
              - { id: l1, llm: { prompts: [ { user: "{{summary}}" } ], store: { slot: { name: l1 } } } }
              - { id: q1, message: { message: "{{l1}}?", hold: true } }
              - { id: p1, api-call: { method: DELETE, url: "${url}/delete?l={{n}}", target: { slot: { name: deleted } }, ${
    flows.replace("goto: lost", "action: continue")
  } } }
          - { id: l2, llm: { prompts: [ { user: "two" } ] } }
          - id: do
            chain:
              - { id: once2, gadget: { name: Once, input: { name: three }, target: { slot: { name: three } } } }
              - { id: q2, message: { message: "more?", hold: true } }
              - { id: l3, llm: { prompts: [ { user: three } ], hold: true } }
              - { id: c3, counter: { slot: { name: n } } }
          - { id: s2, sse-call: { method: GET, url: "${url}/sse?two", response-path: $.text } }
      - { id: say, message: { message: "{{once}} {{safe}} {{three}} {{deleted}} {{streamed}} {{found}}" } }
      - { id: last, message: { message: "{{summary}} {{n}} {{global.visits}}", hold: true } }
      - { id: end, flow: { action: end } }
      - { id: lost, message: { message: lost } }
`;
}

/** How often each request came, by `METHOD path`, and the keys that it named. */
export interface Requests {
  readonly counts: Map<string, number>;
  readonly keys: Map<string, Set<string>>;
}

/** A conversation that was held to its end. */
export interface HeldToTheEnd {
  readonly log: Json;
  readonly slots: Json;
  readonly events: number;
}

/** A store, and the server that its conversations ask. */
export interface KillablePlace extends AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  readonly requests: Requests;
}

/** Opens one; `await using` closes it. */
export async function killablePlace(): Promise<KillablePlace> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-kill-" });
  const requests: Requests = { counts: new Map(), keys: new Map() };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const name = `${request.method} ${pathname}${search}`;
    requests.counts.set(name, (requests.counts.get(name) ?? 0) + 1);
    const key = request.headers.get("idempotency-key");
    if (key !== null) requests.keys.set(name, (requests.keys.get(name) ?? new Set()).add(key));
    await request.text();
    await pause(4);
    return pathname === "/sse" ? streamed() : Response.json({ answer: `${name} done` });
  });
  return {
    folder,
    port: server.addr.port,
    requests,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function streamed(): Response {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (const text of ["Once ", "upon ", "a ", "time"]) {
      yield new TextEncoder().encode(`data: ${JSON.stringify({ text })}\n\n`);
      await pause(2);
    }
  };
  return new Response(ReadableStream.from(pieces()), { headers: { "content-type": "text/event-stream" } });
}

interface Line {
  readonly type: string;
  readonly key?: string;
  readonly id?: string;
  readonly seq?: number;
  readonly error?: string;
  readonly log?: Json;
  readonly slots?: Json;
}

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

function gadget(
  name: string,
  { folder, isIdempotent }: { folder: string; isIdempotent: boolean },
): AnyGadget {
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
function settle(store: Journal, { id, folder }: { readonly id: string; readonly folder: string }): void {
  const open = store.read(id).steps.filter(({ status, idempotent }) => status === "started" && !idempotent);
  for (const { key, input } of open) {
    const { name } = Object(input);
    const isDone = readFileSync(join(folder, "effects.txt"), "utf8").split("\n").includes(name);
    if (!isDone && name.startsWith("one")) continue;
    if (!isDone) appendFileSync(join(folder, "effects.txt"), `${name}\n`);
    const run = store.open(id);
    run.settle(key, { outcome: { ok: `${name} done` } });
    run.release("stopped");
  }
}

function next(conversation: Conversation): AsyncIterable<RunEvent> {
  const { status, turns, log } = conversation;
  if (status !== "held") return conversation.retry();
  if (turns === 0) return conversation.start();
  return conversation.say(MESSAGES[log.filter(({ who }) => who === "user").length] ?? "");
}

/** Who holds a conversation. */
export interface Holder {
  readonly store: Journal;
  readonly user: string;
  /** Of one that was begun. Default: a new one. */
  readonly id?: string;
  /** Takes what happens: the id, each event, and at the end what was said. */
  print(line: unknown): void;
  /** It is lost: it does no more. Default: it is not. */
  isLost?(): boolean;
}

/** Holds the conversation of this user to its end, or goes on with it. */
export async function hold(
  { folder, port }: { readonly folder: string; readonly port: number },
  { store, user, id, print, isLost = () => false }: Holder,
): Promise<void> {
  const files = memoryFiles({
    "a.collection.yml": 'version: "0.1"\ndocuments: [ { id: r, file: r.md, metadata: { name: Rivers } } ]\n',
    "r.md": "# Rivers\n\nA river runs to the sea.\n",
  });
  using collection = await openCollection("a.collection.yml", { world: { root: "/project", files } });
  const agent = await loadAgent({ file: "a.agent.yml", text: killableAgent(port) });
  const gadgets = [
    gadget("Once", { folder, isIdempotent: false }),
    gadget("Safe", { folder, isIdempotent: true }),
  ];
  const given = { store, user, model: answer, fetch, collection, gadgets };
  const conversation = await openConversation(agent, { ...given, ...(id === undefined ? {} : { id }) });
  let error: string | undefined;
  print({ type: "id", id: conversation.id });
  for (let turns = 0; conversation.status !== "completed"; turns++) {
    if (turns > 20) throw new Error(`the conversation does not end: ${conversation.status} ${error}`);
    if (conversation.status === "running") settle(store, { id: conversation.id, folder });
    for await (const event of next(conversation)) {
      print(event);
      if (event.type === "run-end") error = event.error;
    }
    if (isLost()) return;
  }
  print({ type: "done", log: conversation.log, slots: conversation.slots() });
}

/** Starts a process that holds the conversation of this user, or goes on with it. */
function childOf(place: KillablePlace, { user, id }: { readonly user: string; readonly id?: string }) {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--config",
      join(PROJECT_ROOT, "deno.json"),
      fileURLToPath(new URL("_conversation_child.ts", import.meta.url)),
      place.folder,
      `${place.port}`,
      user,
      ...(id === undefined ? [] : [id]),
    ],
    clearEnv: true,
    env: testEnvironment(),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** What a process told until it ended, or was killed. */
async function toldBy(child: Deno.ChildProcess, kill?: Kill): Promise<readonly Line[]> {
  const problem = new Response(child.stderr).text();
  const told: Line[] = [];
  let [rest, timer]: [string, ReturnType<typeof setTimeout> | undefined] = ["", undefined];
  const isMoment = (line: string): boolean =>
    typeof kill?.event === "number"
      ? told.length >= kill.event
      : kill !== undefined && line.includes(kill.event);
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      told.push(JSON.parse(line));
      if (timer === undefined && isMoment(line)) timer = setTimeout(() => killed(child), kill?.afterMs);
    }
  }
  clearTimeout(timer);
  const { signal } = await child.status;
  assert.ok(signal === "SIGKILL" || await problem === "", await problem);
  return told;
}

function killed(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it has ended by itself */ }
}

/** Holds the conversation without a kill. */
export async function heldToTheEnd(place: KillablePlace, user: string): Promise<HeldToTheEnd> {
  const told = await toldBy(childOf(place, { user }));
  const last = told.at(-1);
  assert.ok(
    last?.type === "done" && last.log !== undefined && last.slots !== undefined,
    JSON.stringify(last),
  );
  return { log: last.log, slots: last.slots, events: told.length };
}

/** What came of the kills. */
export interface SurvivedConversation {
  /** Kills that met a process which had not ended. */
  readonly kills: number;
  /** The kinds of the steps that were under way then. */
  readonly met: readonly string[];
  readonly unverified: number;
}

/** Holds a conversation through all the kills, and lets it end. @throws {AssertionError} when something is lost or done twice */
export async function surviveConversation(
  place: KillablePlace,
  { user, want, kills }: {
    readonly user: string;
    readonly want: HeldToTheEnd;
    readonly kills: readonly Kill[];
  },
): Promise<SurvivedConversation> {
  place.requests.counts.clear();
  place.requests.keys.clear();
  await Deno.writeTextFile(join(place.folder, "effects.txt"), "");
  const met: string[] = [];
  const finished = new Map<string, number>();
  let [id, counted, unverified]: [string | undefined, number, number] = [undefined, 0, 0];
  for (const [index, kill] of [...kills, undefined].entries()) {
    const where = `user ${user}, kill ${index + 1} of ${JSON.stringify(kills)}`;
    const told = await toldBy(childOf(place, { user, ...(id === undefined ? {} : { id }) }), kill);
    const last = told.at(-1);
    id ??= told[0]?.id;
    if (last?.type === "done") {
      assert.deepEqual(last.log, want.log, where);
      assert.deepEqual(last.slots, want.slots, where);
      using journal = openStore(place.folder);
      assertWhole(place, journal, { id: id ?? "", want, most: index + 1, finished, where });
      return { kills: counted, met, unverified };
    }
    counted++;
    const steps = stepsOf(place, id);
    if (steps === undefined) id = undefined; // killed before its first commit
    for (const step of steps ?? []) {
      if (step.status === "started") met.push(step.kind);
      if (step.status === "started" && !step.idempotent) unverified++;
      if (step.status === "finished" && !finished.has(step.key)) finished.set(step.key, timesOf(place, step));
    }
    for (
      const { type, key = "" } of told.filter(({ type, key }) =>
        type === "step-end" && key?.includes("/") === true
      )
    ) {
      const isEffect = /\/(?:http|model|retrieve)$/.test(key);
      assert.ok(!isEffect || finished.has(key), `${where}: the ${type} of ${key} was told and is not kept`);
    }
  }
  throw new Error("the conversation did not end");
}

/**
 * Holds the conversation in this process, whose journal loses it in every step that is new; gives the steps with where it was lost.
 *
 * @throws {AssertionError} when something is lost or done twice
 */
export async function surviveStrictly(
  place: KillablePlace,
  { user, want, seed }: { readonly user: string; readonly want: HeldToTheEnd; readonly seed: number },
): Promise<ReadonlyMap<string, Loss>> {
  place.requests.counts.clear();
  place.requests.keys.clear();
  await Deno.writeTextFile(join(place.folder, "effects.txt"), "");
  const journal = memoryJournal({ isAlive: () => false }); // not disposed of: the lost have left it as it is
  const store = strictJournal(journal, { seed });
  const holder = { store, user, isLost: () => store.isLost };
  let last: Line | undefined;
  let id: string | undefined;
  for (let most = 1; most < 200; most++) {
    const print = (line: unknown): void => {
      last = line as Line;
      id ??= last.id;
    };
    const isHeld = await hold(place, { ...holder, ...(id === undefined ? {} : { id }), print }).then(
      () => !store.isLost,
      (error) => store.isLost ? false : Promise.reject(error),
    );
    await pause(10); // what still ran has ended by now
    if (!isHeld) continue;
    const where = `seed ${seed}, lost ${most - 1} times`;
    assert.deepEqual([last?.log, last?.slots], [want.log, want.slots], where);
    assertWhole(place, journal, { id: id ?? "", want, most, finished: new Map(), where });
    return store.losses;
  }
  throw new Error(`the conversation did not end: lost in ${[...store.losses.keys()].join(", ")}`);
}

function stepsOf({ folder }: KillablePlace, id: string | undefined): readonly StepRecord[] | undefined {
  using journal = openStore(folder);
  const isThere = journal.list().some((run) => run.id === id);
  return id === undefined || !isThere ? undefined : journal.read(id).steps;
}

/** The journal of a place. */
export function openStore(folder: string): Journal {
  return openJournal(folder);
}

/** How often the effect of a step was done, by whoever was affected. */
function timesOf({ requests, folder }: KillablePlace, { kind, input }: StepRecord): number {
  const { name, method, url } = Object(input);
  if (kind === "http") return requests.counts.get(`${method} ${pathOf(url)}`) ?? 0;
  if (kind !== "gadget") return 0;
  return Deno.readTextFileSync(join(folder, "effects.txt")).split("\n").filter((line) => line === name)
    .length;
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

/** Everything was done, said and told as often as it may be. */
function assertWhole(
  place: KillablePlace,
  journal: Journal,
  { id, want, most, finished, where }: {
    readonly id: string;
    readonly want: HeldToTheEnd;
    /** How many processes there were: each may have done once what may be done twice. */
    readonly most: number;
    /** By the key of a step: how often it had been done when it was finished. */
    readonly finished: ReadonlyMap<string, number>;
    readonly where: string;
  },
): void {
  const { steps, events, messages } = journal.read(id);
  assert.deepEqual(messages, want.log, where);
  const said = events.flatMap((event) => event.type === "message" ? [[event.n, event.step, event.text]] : []);
  const logged = messages.filter(({ who }) => who === "assistant").map((
    { n, steps, text },
  ) => [n, steps[0], text]);
  assert.deepEqual(said, logged, `${where}: what was told is not what was said`);
  assert.ok(events.every(({ seq }, index) => index === 0 || seq > (events[index - 1]?.seq ?? 0)), where);
  for (const step of steps) {
    const { key, status, kind, idempotent } = step;
    assert.ok(status === "finished" || !idempotent, `${where}: ${key} is ${status}`);
    const [before, now] = [finished.get(key), timesOf(place, step)];
    assert.ok(before === undefined || before === now, `${where}: ${key} was finished and was done again`);
    if (kind === "http" || kind === "gadget") {
      assert.ok(idempotent ? now >= 1 && now <= most : now === 1, `${where}: ${key} was done ${now} times`);
    }
    if (kind !== "http") continue;
    const { method, url } = Object(step.input);
    const keys = place.requests.keys.get(`${method} ${pathOf(url)}`);
    assert.deepEqual(keys && [...keys], method === "GET" ? undefined : [`${id}/${key}`], where);
  }
}
