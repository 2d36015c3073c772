/**
 * A Restate server for tests: on loopback, in a folder of its own, ended by its id. The program comes from npm once, into a cache.
 *
 * @module
 */

import { join } from "node:path";
import { pause } from "../_waiting.ts";

const VERSION = "1.7.12";

/** A server under way. */
export interface RestateServer extends Disposable {
  readonly admin: string;
  readonly ingress: string;
  /** kill -9. */
  kill(): void;
  /** Goes on in the same folder, at the same ports. */
  restart(): Promise<void>;
}

const CACHE = Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache");
const FOLDER = join(CACHE, "orrery", `restate-${VERSION}`);
const PROGRAM = join(FOLDER, "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server");

/** Why there can be no server; undefined when the program is there, or could be fetched. */
export async function whyNot(): Promise<string | undefined> {
  const isThere = () => Deno.stat(PROGRAM).then(({ isFile }) => isFile, () => false);
  if (await isThere()) return undefined;
  await Deno.mkdir(FOLDER, { recursive: true });
  const options = ["--no-audit", "--no-fund", "--ignore-scripts"];
  try {
    const { stderr } = await new Deno.Command("npm", {
      args: ["install", "--prefix", FOLDER, ...options, `@restatedev/restate-server@${VERSION}`],
      stdout: "null",
      stderr: "piped",
    }).output();
    if (await isThere()) return undefined;
    return `npm has no Restate server for this machine: ${new TextDecoder().decode(stderr).slice(0, 300)}`;
  } catch (error) {
    return `there is no npm that could fetch the Restate server (${error})`;
  }
}

/** The rows of a query at an admin address. */
export async function queryRestate(
  admin: string,
  query: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const response = await fetch(`${admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${admin} answered ${response.status}: ${text}`);
  return JSON.parse(text).rows;
}

/** Starts a server in a new folder. @param more lines of its configuration */
export async function restateServer(
  { node = `127.0.0.1:${freePort()}`, more = "" } = {},
): Promise<RestateServer> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-restate-" });
  const [ingress, admin] = [freePort(), freePort()].map((port) => `127.0.0.1:${port}`);
  const config = join(folder, "restate.toml");
  await Deno.writeTextFile(
    config,
    `disable-telemetry = true
default-num-partitions = 1
rocksdb-total-memory-size = "64MB"
base-dir = "${join(folder, "data")}"
listen-mode = "tcp"
bind-address = "${node}"
advertised-address = "http://${node}"
${more}[admin]
bind-address = "${admin}"
[ingress]
bind-address = "${ingress}"
`,
  );
  const start = (): Deno.ChildProcess =>
    new Deno.Command(PROGRAM, {
      args: ["--no-logo", "--config-file", config],
      stdout: "null",
      stderr: "null",
    })
      .spawn();
  const address = { admin: `http://${admin}`, ingress: `http://${ingress}` };
  let child = start();
  const server: RestateServer = {
    ...address,
    kill() {
      try {
        child.kill("SIGKILL");
      } catch { /* it has ended */ }
    },
    [Symbol.dispose]() {
      server.kill();
      try {
        Deno.removeSync(folder, { recursive: true });
      } catch { /* it writes a last time */ }
    },
    async restart() {
      await child.status;
      child = start();
      await ready(address);
    },
  };
  await ready(address);
  return server;
}

async function ready({ ingress, admin }: Pick<RestateServer, "admin" | "ingress">): Promise<void> {
  for (let n = 0; n < 600; n++) {
    const answers = await Promise.all(
      [`${admin}/health`, `${ingress}/restate/health`].map((url) =>
        fetch(url).then(async (response) => {
          await response.body?.cancel();
          return response.ok;
        }, () => false)
      ),
    );
    if (answers.every(Boolean)) return;
    await pause(50);
  }
  throw new Error("the Restate server does not begin to answer");
}

/** Nobody listens there. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Three servers that keep everything twice, behind one address. */
export interface RestateCluster extends RestateServer {
  readonly servers: readonly RestateServer[];
}

/** Starts them. */
export async function restateCluster(): Promise<RestateCluster> {
  const nodes = Array.from({ length: 3 }, () => `127.0.0.1:${freePort()}`);
  const servers = await Promise.all(nodes.map((node, n) =>
    restateServer({
      node,
      more: `cluster-name = "orrery"
node-name = "n${n + 1}"
force-node-id = ${n + 1}
auto-provision = ${n === 0}
default-replication = 2
metadata-client.addresses = ${JSON.stringify(nodes.map((each) => `http://${each}`))}
`,
    })
  ));
  const behind = (what: "admin" | "ingress") =>
    balanced(servers.map((each) => Number(new URL(each[what]).port)));
  const [admin, ingress] = [behind("admin"), behind("ingress")];
  return {
    servers,
    admin: admin.url,
    ingress: ingress.url,
    kill: () => servers.forEach((each) => each.kill()),
    restart: async () => void await Promise.all(servers.map((each) => each.restart())),
    [Symbol.dispose]() {
      admin.close();
      ingress.close();
      for (const each of servers) each[Symbol.dispose]();
    },
  };
}

/** One address for many ports; one that does not answer is passed over. */
export function balanced(
  ports: readonly number[],
): { readonly ports: readonly number[]; readonly url: string; close(): void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let turn = 0;
  const pass = async (client: Deno.TcpConn): Promise<void> => {
    for (let tries = 0; tries < ports.length; tries++) {
      const port = ports[turn++ % ports.length] ?? 0;
      const server = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
      if (server === undefined) continue;
      for (const end of [client, server]) end.setNoDelay(); // else small messages wait 40 ms for one another
      await Promise.allSettled([
        client.readable.pipeTo(server.writable),
        server.readable.pipeTo(client.writable),
      ]);
      return;
    }
    client.close();
  };
  (async () => {
    for await (const client of listener) pass(client).catch(() => undefined);
  })();
  return { ports, url: `http://127.0.0.1:${listener.addr.port}`, close: () => listener.close() };
}
