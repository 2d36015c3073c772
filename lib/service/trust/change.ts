import { builtInGadgets } from "../../../gadgets/built_in.ts";
import { serverNamed } from "../../catalog/mcp/gadgets.ts";
import {
  filesNamed,
  gadgetCandidates,
  takenWords,
  type TrustCandidate,
  wordProblem,
} from "../../catalog/trust.ts";
import {
  type GadgetToGrant,
  type GadgetUse,
  type Lock,
  type LockedGadget,
  ProblemsError,
  SourceError,
  type User,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { stateFolder } from "../../host/paths.ts";
import { loadSandbox } from "../../project/open_sandbox.ts";
import {
  isProjectAccepted,
  projectParts,
  projectServers,
  type ProjectSettings,
} from "../../project/project.ts";
import type { SandboxedGadgets } from "../../project/sandboxed_gadgets.ts";
import { gadgetUse } from "../../project/trust/gadget_use.ts";
import { checkManifest, GrantMeans } from "../../project/trust/grant_gadget.ts";
import { NOBODY } from "../../project/trust/grants.ts";
import { removeAllowedServer } from "../../mcp/server_grant.ts";
import { NOT_ACCEPTED, type TrustRow } from "./rows.ts";
import { LockKeeper } from "../../project/trust/lock.ts";

/** What words name. */
export interface Named {
  readonly gadgets: readonly GadgetToGrant[];
  /** MCP servers, as the settings call them. */
  readonly servers: readonly string[];
}

/** A server that was allowed for good. */
export interface AllowedServer {
  readonly name: string;
  /** The names of its gadgets. */
  readonly gadgets: readonly string[];
}

/** What words are looked up with. */
export interface DescribeOptions {
  readonly project: ProjectSettings;
  /** Gadget modules besides those of the project's folders. */
  readonly files: readonly string[];
  /** Told what is odd about a gadget. */
  readonly notice: (text: string) => void;
}

/**
 * The gadgets that these words name, as they are now: described without any permission; and the servers, none of them started.
 *
 * @throws {SourceError} or {ProblemsError} for a word that names nothing, or several gadgets, and for a gadget that cannot be described
 */
export async function describeNamed(
  names: readonly string[],
  { project, files, notice }: DescribeOptions,
): Promise<Named> {
  const { root, cwd, config } = project;
  const { candidates, problems } = await gadgetCandidates({
    cwd,
    disk: hostFiles({ root }),
    config,
    files,
  });
  if (problems.length > 0) throw new ProblemsError(problems);
  const keeper = new LockKeeper({ ...project, parts: {}, projectAccepted: false, notice });
  const { names: servers } = await projectServers(project, { user: NOBODY, notice, keeper }) ?? { names: [] };
  const sandbox = await loadSandbox(project, {
    candidates,
    flags: { gadget: files, trust: [], "trust-project": false, ephemeral: true },
    user: NOBODY,
    notice,
    projectAccepted: false,
    keeper,
  });
  const place = { sandbox, project, candidates, servers };
  try {
    const gadgets = new Map<string, GadgetToGrant>();
    const named = new Set<string>();
    for (const name of names) {
      const found = await whatIs(name, place);
      if (typeof found === "string") named.add(found);
      else gadgets.set(found.file, found);
    }
    for (const gadget of gadgets.values()) checkManifest(gadget, cwd);
    return { gadgets: [...gadgets.values()], servers: [...named] };
  } finally {
    await sandbox.close();
  }
}

/** Whoever names a server on the command line has answered what is asked about it. */
const ALWAYS: User = { canAnswer: true, ask: () => Promise.resolve("always") };

/** Starts servers once, to see their tools, and allows them as they are. @throws {SourceError} for one that cannot be used */
export async function allowServers(
  names: readonly string[],
  options: Pick<DescribeOptions, "project" | "notice"> & { readonly keeper: LockKeeper },
): Promise<readonly AllowedServer[]> {
  const { project, keeper, notice } = options;
  const servers = await projectServers(project, { keeper, notice, user: ALWAYS });
  const opened = await servers?.open({ taken: new Set(), isTrusted: () => false, only: names });
  try {
    return names.map((name) => {
      const entries = (opened?.entries ?? []).filter(({ source }) =>
        source.kind === "mcp" && source.server === name
      );
      const [first] = entries;
      if (first !== undefined && entries.every(({ state }) => state !== "ready")) {
        throw new SourceError(first.problem ?? first.state, { code: "E-trust" });
      }
      return { name, gadgets: entries.flatMap(({ name, state }) => state === "ready" ? [name] : []) };
    });
  } finally {
    await opened?.close();
  }
}

/** What a gadget really used, in the runs that are kept of the project; no calls when nothing is known. */
export async function usedSoFar(gadget: LockedGadget, { root }: ProjectSettings): Promise<GadgetUse> {
  const folder = stateFolder();
  if (folder === undefined) return { calls: 0, used: [] };
  return await gadgetUse(gadget, { root, state: hostFiles({ root: folder }) });
}

/**
 * A server by its name; a gadget by its file or the name in its text, else by the name that it has once it is looked at.
 *
 * @throws {SourceError} for a word that names none of them, or several
 */
async function whatIs(
  word: string,
  { sandbox, project, candidates, servers }: {
    readonly sandbox: SandboxedGadgets;
    readonly project: ProjectSettings;
    readonly candidates: readonly TrustCandidate[];
    readonly servers: readonly string[];
  },
): Promise<GadgetToGrant | string> {
  const isTaken = takenWords(Object.keys(builtInGadgets), servers);
  const found = filesNamed(word, candidates, { ...project, isTaken });
  const [first] = found;
  if (first !== undefined && found.length === 1) return await sandbox.describe(first);
  const server = serverNamed(word, servers);
  if (server !== undefined) return server;
  const looked = found.length > 0 || isTaken(word)
    ? []
    : await Promise.all(candidates.map((file) => sandbox.describe(file).catch(() => undefined)));
  const [gadget, other] = looked.filter((each) => each?.name === word);
  if (gadget !== undefined && other === undefined) return gadget;
  throw wordProblem(word, found, candidates, { servers });
}

/** How what a project allows for good is changed. */
interface ChangeOptions {
  /** Whoever is asked whether what the project says for itself counts. */
  readonly user: () => Promise<User>;
  /** It does. */
  readonly trustsProject: boolean;
  readonly notice: (text: string) => void;
}

/** What changes the lock; undefined where what that says would count for nothing. */
export async function acceptedGrants(
  project: ProjectSettings,
  { user, trustsProject, notice }: ChangeOptions,
): Promise<GrantMeans | undefined> {
  if (Object.keys(await projectParts(project)).length === 0) return await grantMeans(project, false, notice);
  const isAccepted = await isProjectAccepted({
    ...project,
    flags: { gadget: [], trust: [], "trust-project": trustsProject },
    user: await user(),
    notice,
  });
  return isAccepted ? await grantMeans(project, true, notice) : undefined;
}

async function grantMeans(
  project: ProjectSettings,
  projectAccepted: boolean,
  notice: ChangeOptions["notice"],
): Promise<GrantMeans> {
  const parts = await projectParts(project);
  return new GrantMeans({ ...project, parts, projectAccepted, flags: { trust: [] }, user: NOBODY, notice });
}

/** Takes gadgets and servers out of the lock, and servers out of what was answered for. @param options.rows all there are */
export async function takeOut(
  denied: readonly TrustRow[],
  { project, rows, notice }: {
    readonly project: ProjectSettings;
    readonly rows: readonly TrustRow[];
    readonly notice: (text: string) => void;
  },
): Promise<void> {
  const { root, lock } = project;
  const isDenied = (kind: TrustRow["kind"], entry: { readonly name: string; readonly file?: string }) =>
    denied.some((row) => row.kind === kind && row.name === entry.name && row.file === entry.file);
  if (denied.some(({ from }) => from === lock?.file)) {
    const isAccepted = rows.some(({ from, reasons }) =>
      from === lock?.file && !reasons.includes(NOT_ACCEPTED)
    );
    const { keeper } = await grantMeans(project, isAccepted, notice);
    await keeper.change(({ gadgets, servers }): Lock => ({
      gadgets: gadgets.filter((gadget) => !isDenied("gadget", gadget)),
      servers: servers.filter(({ name }) => !isDenied("server", { name })),
    }));
  }
  const state = stateFolder();
  for (const { name, kind } of denied) {
    if (kind === "gadget" || state === undefined) continue;
    await removeAllowedServer(hostFiles({ root: state, mode: 0o600 }), { root, name });
  }
}
