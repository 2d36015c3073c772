/**
 * Nodes on one Restate server: each is `orrery serve --engine` in a process of its own, and all stand behind one address.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "../_project.ts";
import { pause, until } from "../_waiting.ts";
import { PROJECT_ROOT } from "../_run.ts";
import { balanced, freePort, queryRestate, type RestateServer, restateServer } from "./_restate.ts";

/** A key that nodes have. */
export const SECRET = "sk-durable-0123456789abcdef";

/** A node. */
export interface Node {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Where the others, and Restate, reach it. */
  readonly address: string;
  readonly process: Deno.ChildProcess;
  /** kill -9 */
  kill(): Promise<void>;
  /** Begins again at the same ports, where it has ended. */
  restart(): Promise<void>;
  killAndRestart(): Promise<void>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
}

/** An answer. */
export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Nodes, and what they stand on. */
export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly Node[];
  readonly restate: RestateServer;
  readonly folder: string;
}

/** Starts them in a project of these files. */
export async function cluster(
  files: Readonly<Record<string, string>>,
  { size = 2, flags = [], keyless = 0, ...given }: {
    readonly size?: number;
    readonly flags?: readonly string[];
    /** How many of them, the first ones, have no key. */
    readonly keyless?: number;
    /** Default: one server. It ends with the nodes. */
    readonly restate?: RestateServer;
  } = {},
): Promise<Cluster> {
  const project = await testProject(files);
  const restate = given.restate ?? await restateServer();
  const balancer = balanced(Array.from({ length: size }, freePort));
  const nodes: Node[] = [];
  for (const [n, port] of balancer.ports.entries()) {
    const as = size === 1 ? `http://127.0.0.1:${port}` : balancer.url;
    const engine = `restate=${restate.admin},ingress=${restate.ingress},as=${as},listen=127.0.0.1:${port}`;
    const env = n < keyless ? project.env : { ...project.env, OPENAI_API_KEY: SECRET };
    const around = { folder: project.folder, env };
    nodes.push(await startNode({ engine, address: `http://127.0.0.1:${port}`, flags }, around));
  }
  return {
    nodes,
    restate,
    folder: project.folder,
    async [Symbol.asyncDispose]() {
      balancer.close();
      for (const { process } of nodes) {
        try {
          process.kill("SIGKILL");
        } catch { /* it has ended */ }
      }
      await Promise.all(nodes.map(({ process }) => process.status));
      restate[Symbol.dispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** The state of a run once it does not go on. */
export async function over(node: Node | undefined, id: string): Promise<Answer["body"]> {
  assert.ok(node);
  let body: Answer["body"];
  await until(async () => {
    ({ body } = await node.get(`/v1/runs/${id}`));
    return body.status !== "running";
  }, 30_000);
  return body;
}

/** The address of the node that has a run, once one has it. */
export async function holderOf(id: string, { admin }: RestateServer): Promise<string> {
  let node: string | undefined;
  await until(async () => {
    const rows = await queryRestate(
      admin,
      `SELECT value_utf8 FROM state WHERE service_key = '${id}' AND key = 'run'`,
    );
    ({ node } = JSON.parse(String(rows[0]?.value_utf8 ?? "{}")));
    return node !== undefined;
  });
  return node ?? assert.fail();
}

async function startNode(
  { engine, address, flags }: {
    readonly engine: string;
    readonly address: string;
    readonly flags: readonly string[];
  },
  { folder, env }: Pick<Awaited<ReturnType<typeof testProject>>, "folder" | "env">,
): Promise<Node> {
  const start = async () => {
    const process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        join(PROJECT_ROOT, "main.ts"),
        "serve",
        "--port",
        "0",
        "--no-token",
        "--trust-project",
        "--quiet",
        "--allow-write=out",
        `--engine=${engine}`,
        ...flags,
      ],
      cwd: folder,
      env,
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    await process.stdout.cancel();
    if (value === undefined) throw new Error("the node does not start");
    return { process, origin: new TextDecoder().decode(value).trim() };
  };
  let now = await start();
  const node: Pick<Node, "kill" | "restart"> = {
    async kill() {
      try {
        now.process.kill("SIGKILL");
      } catch { /* it has ended */ }
      await now.process.status;
    },
    async restart() {
      const isOver = await Promise.race([now.process.status.then(() => true), pause(0).then(() => false)]);
      if (isOver) now = await start();
    },
  };
  const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(now.origin + path, { ...init, signal: AbortSignal.timeout(30_000) });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  return {
    address,
    get origin() {
      return now.origin;
    },
    get process() {
      return now.process;
    },
    ...node,
    async killAndRestart() {
      await node.kill();
      await node.restart();
    },
    get: (path) => ask(path),
    post: (path, body = {}) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}
