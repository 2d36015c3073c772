// What is asked of a Restate server: its ingress, which calls the runs, and its admin address.
import { JournalError, type Json, messageOf, systemClock } from "../core/core.ts";
import type { SlotRow } from "../journal/store.ts";
import type { Writes } from "./commit_log.ts";
import { type KeptCommits, RUN_SERVICE, SLOT_SERVICE, type Standing, TaskRefused } from "./run_service.ts";

/** Where a Restate server is. */
export interface RestateAddress {
  /** `http://127.0.0.1:9070` */
  readonly admin: string;
  /** `http://127.0.0.1:8080` */
  readonly ingress: string;
}

/** A Restate server, as nodes ask it. Everything fails with an {@linkcode Error} that names the address. */
export interface RestateClient {
  /** Registers the one address that all nodes stand behind. */
  register(uri: string): Promise<void>;
  /** Hands a task over, once, and settles when it is done. @throws {TaskRefused} as the node that took it says */
  perform(run: string, task: Json, options?: { readonly isNew?: boolean }): Promise<void>;
  look(run: string, from: number): Promise<KeptCommits>;
  /** Keeps a new run that nobody does anything with yet. */
  keep(run: string, writes: Writes): Promise<void>;
  /** How all runs stand. */
  rows(): Promise<readonly Standing[]>;
  /** The slots of a scope. */
  slots(scope: string): Promise<readonly SlotRow[]>;
  /** Why a run has no node that takes it; undefined where nothing is known. */
  waitsFor(run: string): Promise<string | undefined>;
  /** Nothing is kept of the run any more. */
  forget(run: string): Promise<void>;
  /** Ends what waits for a node, too. */
  cancel(run: string): Promise<void>;
}

/** A server that has lost another one may take as long to answer, ms. */
const ANSWER_MS = 15_000;
/** One that has taken over answers within this, ms. */
const LOST_MS = 6_000;
const AGAIN_MS = 100;

export function restateClient(
  { admin, ingress }: RestateAddress,
  fetch: typeof globalThis.fetch,
): RestateClient {
  const ask = async (
    url: string,
    body: Json,
    { method = "POST", key }: { readonly method?: string; readonly key?: string } = {},
  ): Promise<string> => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...(key !== undefined && { "idempotency-key": key }),
    };
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method,
        headers,
        body: method === "POST" ? JSON.stringify(body) : undefined,
        signal: key === undefined ? AbortSignal.timeout(ANSWER_MS) : null, // a task takes as long as it does
      });
      text = await response.text();
    } catch (error) {
      throw new JournalError(`Restate at ${new URL(url).origin} does not answer: ${messageOf(error)}`);
    }
    if (response.ok) return text;
    const message = `Restate at ${new URL(url).origin} answered ${response.status}: ${text}`;
    if (response.status > 500) throw new JournalError(message); // a server that has lost another one
    throw new RestateProblem(message, text);
  };
  const query = async (sql: string): Promise<readonly Readonly<Record<string, Json>>[]> =>
    JSON.parse(await ask(`${admin}/query`, { query: sql })).rows;
  const call = (run: string, handler: string, body: Json, key?: string) =>
    ask(`${ingress}/${RUN_SERVICE}/${encodeURIComponent(run)}/${handler}`, body, { key });
  const invocation = async (run: string): Promise<Readonly<Record<string, Json>> | undefined> =>
    (await query(
      `SELECT id, last_failure FROM sys_invocation WHERE target_service_name = '${RUN_SERVICE}' AND target_service_key = '${
        run.replaceAll("'", "''")
      }' AND target_handler_name IN ('begin', 'go') AND status <> 'completed' LIMIT 1`,
    ))[0];

  return {
    register: async (uri) => void await ask(`${admin}/deployments`, { uri, force: true }),
    async perform(run, task, { isNew = false } = {}) {
      const key = crypto.randomUUID(); // a call that is lost on its way Restate repeats too, and would do twice
      for (let heldUntil = performance.now();;) {
        const askedAt = performance.now();
        try {
          return void await call(run, isNew ? "begin" : "go", task, key);
        } catch (error) {
          if (error instanceof RestateProblem) {
            const why = whyRefused(error.body);
            throw why === undefined ? error : new TaskRefused(why, { cause: error });
          }
          const now = performance.now();
          if (now - askedAt > LOST_MS) heldUntil = now;
          if (now - heldUntil > LOST_MS) throw error;
          await systemClock.sleep(AGAIN_MS);
        }
      }
    },
    keep: async (run, writes) => void await call(run, "keep", writes as unknown as Json),
    async look(run, from) {
      let kept: KeptCommits = JSON.parse(await call(run, "look", from));
      while (kept.isPart) {
        const rest: KeptCommits = JSON.parse(await call(run, "look", kept.count));
        kept = rest.count < kept.count
          ? { ...rest, from }
          : { ...rest, from, commits: [...kept.commits, ...rest.commits] };
      }
      return kept;
    },
    async rows() {
      const rows = await query(
        `SELECT value_utf8 FROM state WHERE service_name = '${RUN_SERVICE}' AND key = 'run'`,
      );
      return rows.map(({ value_utf8 }) => JSON.parse(String(value_utf8)));
    },
    slots: async (scope) =>
      JSON.parse(await ask(`${ingress}/${SLOT_SERVICE}/${encodeURIComponent(scope)}/get`, null)),
    async waitsFor(run) {
      const failure = (await invocation(run))?.last_failure;
      if (typeof failure !== "string") return undefined;
      const [line = ""] = failure.split("\n", 1); // and what was called by what
      return line.replace(/^\[\d+[^\]]*\] /, "");
    },
    forget: async (run) => void await call(run, "forget", null),
    async cancel(run) {
      const id = (await invocation(run))?.id;
      if (typeof id === "string") await ask(`${admin}/invocations/${id}/cancel`, null, { method: "PATCH" });
    },
  };
}

/** An answer that is no success, and stays so. */
class RestateProblem extends JournalError {
  constructor(message: string, readonly body: string) {
    super(message);
  }
}

/** What a node has said when it refused the task: a message that is JSON. */
function whyRefused(body: string): Json | undefined {
  try {
    return JSON.parse(JSON.parse(body).message);
  } catch {
    return undefined;
  }
}
