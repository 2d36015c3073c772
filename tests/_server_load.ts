// Work of every kind for a server, and clients that ask for it as fast as they are answered. What was accepted is written down: nothing of it
// may be lost.

import assert from "node:assert/strict";
import type { Answered, ServedProject } from "./_served_project.ts";
import { pause } from "./_waiting.ts";

const call = (header: string, fields: Readonly<Record<string, string>>): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(fields).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

const SUM = call("Calculate:sum", { expression: "20 + 22" });

/** What there is to run. */
export const LOAD_FILES: Readonly<Record<string, string>> = {
  "orrery.yaml": "models: { default: script/said.yml }\n",
  "said.yml": '- { chunks: ["one ", "two ", "three"], delayMs: 15, repeat: true }\n',
  "quick.calls": SUM,
  "long.calls": call("Wait:first", { seconds: "0.3" }) +
    call("Calculate:then:first", { expression: "1 + 1" }) +
    call("Wait:last:then", { seconds: "0.2" }) + SUM,
  "write.calls": call("Wait:before", { seconds: "0.05" }) +
    call("WriteFile:write:before", { path: "written.txt", content: "hello" }) +
    call("Calculate:after:write", { expression: "2 * 2" }),
  "plan.md": '# Plan\n\n@llm\nprompt: Go\nuse-header: "# Said"\n\n@return\nblock: said\n',
  "prompts/slow.prompt.md": "Take your time.",
  "guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet." } ], store: { slot: { name: greeting } } } }
      - { id: more?, message: { message: "More?", hold: true } }
      - { id: end, flow: { action: end } }
`,
};

/** What the server must be allowed for it. */
export const LOAD_FLAGS: readonly string[] = ["--allow-write"];

/** A run is started. */
export type LoadRequest = { readonly path: string; readonly body: Readonly<Record<string, unknown>> };

/** One of each kind of run. */
export const LOAD_RUNS: readonly LoadRequest[] = [
  { path: "/v1/runs", body: { file: "quick.calls" } },
  { path: "/v1/runs", body: { file: "long.calls" } },
  { path: "/v1/runs", body: { file: "write.calls" } },
  { path: "/v1/runs", body: { file: "plan.md" } },
  { path: "/v1/runs", body: { path: "slow" } },
  { path: "/v1/gadgets/Wait", body: { input: { seconds: 0.1 } } },
];

/** What clients have seen. */
export interface Seen {
  /** Runs whose 202 was received, by what they are. */
  readonly accepted: Map<string, LoadRequest>;
  /** How often each status came. */
  readonly statuses: Map<number, number>;
}

/** Clients that start runs, one after the other each, until they are stopped or the server is gone. */
export class Clients {
  readonly seen: Seen = { accepted: new Map(), statuses: new Map() };
  readonly #work: readonly Promise<void>[];
  #isOver = false;

  constructor(server: Pick<ServedProject, "json">, count: number) {
    this.#work = Array.from({ length: count }, (_, index) => this.#client(server, index));
  }

  /** No client asks again; comes back when all have been answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#work);
  }

  async #client(server: Pick<ServedProject, "json">, index: number): Promise<void> {
    for (let n = index; !this.#isOver; n++) {
      const request = LOAD_RUNS[n % LOAD_RUNS.length];
      assert.ok(request);
      let answer: Answered;
      try {
        answer = await server.json(request.path, { body: request.body });
      } catch {
        if (!this.#isOver) await pause(20); // it is gone, or on its way
        continue;
      }
      const { status, body } = answer;
      this.seen.statuses.set(status, (this.seen.statuses.get(status) ?? 0) + 1);
      if (status === 202) this.seen.accepted.set(String(body.id), request);
      else if (typeof body.run === "string") this.seen.accepted.set(body.run, request); // one gadget is waited for
      else if (status !== 503) {
        assert.equal(status, 429, JSON.stringify(body));
        await pause(20);
      } else await pause(20);
    }
  }
}

/** How many at once are gone on with: the server lets 64 run. */
const AT_ONCE = 16;

/** Sees to it that each of them ends as `done`; what may not be done twice is done again. Gives how many were still to be gone on with. */
export async function allDone(
  server: Pick<ServedProject, "json">,
  accepted: Seen["accepted"],
): Promise<{ readonly resumed: number }> {
  const left = [...accepted];
  let resumed = 0;
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [id, request] = next;
      const what = `${id} of ${JSON.stringify(request.body)}`;
      const found = await server.json(`/v1/runs/${id}`);
      assert.equal(found.status, 200, `${what} is lost: ${JSON.stringify(found.body)}`);
      if (found.body.status !== "done") {
        assert.ok(
          found.body.status === "stopped" || found.body.status === "running",
          `${what}: ${JSON.stringify(found.body)}`,
        );
        await goOn(server, id, what);
        resumed++;
      }
      const ended = await server.json(`/v1/runs/${id}?wait=30`);
      assert.equal(ended.body.status, "done", `${what}: ${JSON.stringify(ended.body)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { resumed };
}

async function goOn(server: Pick<ServedProject, "json">, id: string, what: string): Promise<void> {
  const path = `/v1/runs/${id}/resume`;
  const answer = await server.json(path, { body: {} });
  if (answer.status === 202) return;
  assert.deepEqual(
    [answer.status, answer.body.code],
    [409, "unverified"],
    `${what}: ${JSON.stringify(answer.body)}`,
  );
  const { steps } = answer.body;
  assert.ok(Array.isArray(steps) && steps.length > 0);
  const rerun = steps.map(({ key }: { readonly key: string }) => key);
  const again = await server.json(path, { body: { rerun } });
  assert.equal(again.status, 202, `${what}: ${JSON.stringify(again.body)}`);
}
