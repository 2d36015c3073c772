import { basename, extname, join } from "node:path";
import { foldName } from "../../catalog/catalog.ts";
import {
  type BrokenMcpServer,
  type LockedServer,
  type McpServer,
  shownPath,
  shownWord,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { configFolder, stateFolder } from "../../host/paths.ts";
import { readAllowedServers } from "../../mcp/server_grant.ts";
import { serverChanges, serverHash } from "../../mcp/server_words.ts";
import type { WrittenGrant } from "../../policy/gadget_grants.ts";
import { configuredServers } from "../../project/configured_servers.ts";
import { isAcceptedHere, type ProjectSettings } from "../../project/project.ts";
import { changedModules } from "../../project/trust/module_hashes.ts";

/** Something that is allowed for good, and by what. */
export interface TrustRow {
  readonly name: string;
  readonly kind: "gadget" | "server";
  /** The file that says so, as messages name it. */
  readonly from: string;
  /** The module of a gadget of a lock, from the project root. */
  readonly file?: string;
  /** Of a gadget. */
  readonly grant?: WrittenGrant;
  /** Of a server of a lock: the command line or the URL. */
  readonly reached?: string;
  /** Whether it counts as it stands. */
  readonly counts: boolean;
  /** Why not, a line each. */
  readonly reasons: readonly string[];
}

/** What a word means: those of that name, else of that file or its stem; case, `_` and `-` ignored. */
export function namedBy<Entry extends Pick<TrustRow, "name" | "file">>(
  word: string,
  entries: readonly Entry[],
): readonly Entry[] {
  const folded = foldName(word.replace(/^\.\//, ""));
  const named = entries.filter(({ name }) => foldName(name) === folded);
  if (named.length > 0) return named;
  return entries.filter(({ file }) =>
    file !== undefined && [file, basename(file), basename(file, extname(file))].map(foldName).includes(folded)
  );
}

/** Everything that is allowed for good here: by the lock, by settings, and servers by an answer. */
export async function trustRows(project: ProjectSettings): Promise<readonly TrustRow[]> {
  const { root, cwd, config } = project;
  const isAccepted = await isAcceptedHere(project);
  const yaml = shownPath(join(root, "orrery.yaml"), cwd);
  const own = shownPath(join(configFolder() ?? root, "config.yaml"), cwd);
  return [
    ...await lockRows(project, isAccepted),
    ...grantRows(config.grants, { from: own, reasons: [] }),
    ...grantRows(config.project.grants, { from: yaml, reasons: isAccepted ? [] : [NOT_ACCEPTED] }),
    ...await serverRows(project),
  ];
}

/** Why what the project says for itself does not count. */
export const NOT_ACCEPTED = "you have not accepted this project";

async function lockRows(project: ProjectSettings, isAccepted: boolean): Promise<readonly TrustRow[]> {
  const { root, lock: found } = project;
  if (found === undefined) return [];
  const { lock, file: from } = found;
  const refused = isAccepted ? [] : [NOT_ACCEPTED];
  const disk = hostFiles({ root });
  const gadgets = await Promise.all(lock.gadgets.map(async (gadget): Promise<TrustRow> => {
    const reasons = [...refused, ...await changedModules(gadget, { root, disk })];
    const { name, file, permissions: grant } = gadget;
    return rowOf("gadget", { name, from, file, grant }, reasons);
  }));
  const configured = lock.servers.length === 0 ? [] : await configuredServers(project);
  const servers = lock.servers.map((server): TrustRow => {
    const { name, reached } = server;
    const reasons = [...refused, ...serverReasons(server, configured)];
    return rowOf("server", { name, from, reached: reachedWords(reached) }, reasons);
  });
  return [...gadgets, ...servers];
}

function grantRows(
  grants: Readonly<Record<string, WrittenGrant>>,
  { from, reasons }: { readonly from: string; readonly reasons: readonly string[] },
): readonly TrustRow[] {
  return Object.entries(grants).map(([name, grant]) => rowOf("gadget", { name, from, grant }, reasons));
}

function rowOf(
  kind: TrustRow["kind"],
  { name, ...row }: Omit<TrustRow, "kind" | "counts" | "reasons">,
  reasons: readonly string[],
): TrustRow {
  return { name, kind, ...row, counts: reasons.length === 0, reasons };
}

/** The servers that were answered for: one that no settings name any more may come back with them, and stays until `orrery trust deny`. */
async function serverRows(project: ProjectSettings): Promise<readonly TrustRow[]> {
  const folder = stateFolder();
  if (folder === undefined) return [];
  const all = await readAllowedServers(hostFiles({ root: folder }));
  const servers = all.filter(({ root }) => root === project.root);
  const configured = servers.length === 0 ? [] : await configuredServers(project);
  return servers.map((server) =>
    rowOf("server", { name: server.name, from: "your answer" }, serverReasons(server, configured))
  );
}

/** Why a server that was allowed is not started: as it is now it was not allowed. What its tools are only its start tells. */
function serverReasons(
  { name, sha256, reached }: Pick<LockedServer, "name" | "sha256"> & Partial<Pick<LockedServer, "reached">>,
  configured: readonly (McpServer | BrokenMcpServer)[],
): readonly string[] {
  const now = configured.find((server) => server.name === name);
  if (now === undefined) return ["no settings have it any more"];
  if ("problem" in now) return [now.problem];
  if (serverHash(now) === sha256) return [];
  return reached === undefined
    ? ["it is not as it was when you allowed it"]
    : serverChanges({ reached }, now);
}

function reachedWords(reached: LockedServer["reached"]): string {
  return "url" in reached ? shownWord(reached.url) : reached.command.map(shownWord).join(" ");
}
