import { join, resolve } from "node:path";
import { FileError, PermissionRefused, type User } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { removeFile } from "../../host/process.ts";
import { logsToStderr } from "../../host/terminal/logs_to_stderr.ts";
import { stateFolder } from "../../host/paths.ts";
import { gadgetGrantValues, parseGadgetGrants } from "../../policy/gadget_grants.ts";
import {
  absoluteEntry,
  NO_POLICY_FLAGS,
  PERMISSION_KINDS,
  type PolicySettings,
  rulesByKind,
} from "../../policy/policy_settings.ts";
import type { ProjectFlags } from "../project.ts";

/** What the flags of a command allow a run. */
export interface RunGrants {
  readonly settings: PolicySettings;
  readonly flags: ProjectFlags;
  /** Of what was kept for a run: what each flag that trusts something was said for. Default: it was not said yet. */
  readonly said?: Said;
}

/** By flag, such as `--trust Fetch`: the SHA-256 of everything that it was said for, by name. */
export type Said = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Nothing beyond what every run may do. */
export const NO_GRANTS: RunGrants = {
  settings: NO_POLICY_FLAGS,
  flags: { gadget: [], trust: [], "trust-project": false },
};

/** Whether there is nothing to be kept of them. */
export function grantsNothing({ settings, flags }: RunGrants): boolean {
  const hasRules = PERMISSION_KINDS.some((kind) =>
    [settings.allow[kind], settings.deny[kind]].some(({ all, list }) => all || list.length > 0)
  );
  return !hasRules && !settings.allowAll && !flags["trust-project"] && !flags["trust-code"] &&
    flags.gadget.length === 0 && flags.trust.length === 0 && (flags["allow-gadget"] ?? []).length === 0;
}

/** Before the catalogue is opened: what modules of gadgets tell the console goes to stderr, since stdout is for the result. */
export function keepStdout({ trust }: { readonly trust: readonly string[] }): void {
  if (trust.length > 0) logsToStderr(); // nothing else loads them
}

/** Who is asked where a program gave no user: every question is refused. */
export const NOBODY: User = {
  canAnswer: false,
  ask: () => Promise.reject(new Error("Nobody can be asked: the program that runs this gave no user")),
};

// What the user allowed a run is kept for its resume among the user's own files, never in the journal: a database that came with a
// repository must not grant anything.

/** Keeps what a run of the project in `root` was allowed; paths are kept as absolute ones. Nothing is written when that is nothing. */
export async function keepGrants(
  id: string,
  grants: RunGrants,
  place: { readonly root: string; readonly cwd: string },
): Promise<void> {
  const folder = stateFolder();
  if (folder === undefined || grantsNothing(grants)) return;
  const absolute = absoluteGrants(grants, place.cwd);
  const said = grants.said ?? await (await saidCode()).saidFor(absolute.flags, place);
  const kept = { root: place.root, ...absolute, said };
  await hostFiles({ root: folder, mode: 0o600 }).writeText(fileOf(id), `${JSON.stringify(kept)}\n`);
}

/** What the run of that project was allowed. */
export async function keptGrants(id: string, { root }: { readonly root: string }): Promise<RunGrants> {
  const folder = stateFolder();
  if (folder === undefined) return NO_GRANTS;
  try {
    const kept: (RunGrants & { readonly root: string }) | null = JSON.parse(
      await hostFiles({ root: folder }).readText(fileOf(id)),
    );
    return kept?.root === root ? kept : NO_GRANTS;
  } catch (error) {
    if (error instanceof FileError || error instanceof SyntaxError) return NO_GRANTS;
    throw error;
  }
}

/**
 * What the run of that project may do when it goes on: what it was allowed, and what is said now. What it was trusted with counts for what was
 * there then: where that is something else now, the user is asked.
 *
 * @throws {PermissionRefused} where nobody can be asked, and after a no
 */
export async function renewedGrants(
  id: string,
  added: RunGrants,
  { user, ...place }: { readonly root: string; readonly cwd: string; readonly user: User },
): Promise<RunGrants> {
  const kept = await keptGrants(id, place);
  const { flags, said = {} } = kept;
  const { changedSince } = await saidCode();
  const changed = await changedSince(said, { flags, again: added.flags }, place);
  const [first] = changed;
  if (first === undefined) return addedGrants(kept, added);
  const lines = changed.map(({ why }) => `\n  ${why}`).join("");
  const what = `Run ${id} was allowed this for what was there then, which is not there any more:${lines}`;
  const isWanted = user.canAnswer &&
    await user.ask(`${what}\nAllow it as it is now?`, { choices: ["yes", "no"] }) === "yes";
  if (isWanted) return addedGrants(kept, added);
  throw new PermissionRefused(
    `${what}\nTo allow it as it is now, say it again: orrery resume ${id} ${
      changed.map(({ flag }) => flag).join(" ")
    }`,
    { request: { kind: "run", value: first.flag }, flag: first.flag },
  );
}

/** Only what trusts something has to be looked at again. */
async function saidCode(): Promise<typeof import("./said.ts")> {
  return await import("./said.ts" as string);
}

/** Forgets what a run was allowed. */
export function dropGrants(id: string): void {
  const folder = stateFolder();
  if (folder !== undefined) removeFile(join(folder, fileOf(id)));
}

/** Both together; what one of them denies stays denied. */
export function addedGrants(a: RunGrants, b: RunGrants): RunGrants {
  const rules = (verb: "allow" | "deny") =>
    rulesByKind((kind) => {
      const [first, second] = [a.settings[verb][kind], b.settings[verb][kind]];
      return { all: first.all || second.all, list: [...first.list, ...second.list] };
    });
  const words = (name: "gadget" | "trust" | "allow-gadget") => [
    ...new Set([...a.flags[name] ?? [], ...b.flags[name] ?? []]),
  ];
  return {
    settings: {
      allowAll: a.settings.allowAll || b.settings.allowAll,
      allow: rules("allow"),
      deny: rules("deny"),
      runsByGrant: a.settings.runsByGrant ?? b.settings.runsByGrant,
    },
    flags: {
      gadget: words("gadget"),
      trust: words("trust"),
      "allow-gadget": words("allow-gadget"),
      frozen: a.flags.frozen || b.flags.frozen,
      "trust-project": a.flags["trust-project"] || b.flags["trust-project"],
      "trust-code": a.flags["trust-code"] || b.flags["trust-code"],
    },
  };
}

function fileOf(id: string): string {
  return join("run-grants", `${encodeURIComponent(id)}.json`);
}

/** The run may be resumed from another folder. */
function absoluteGrants({ settings, flags }: RunGrants, cwd: string): RunGrants {
  const withSlash = (word: string) => word.includes("/") ? resolve(cwd, word) : word;
  const rules = (verb: "allow" | "deny") =>
    rulesByKind((kind) => {
      const { all, list } = settings[verb][kind];
      return { all, list: list.map((entry) => absoluteEntry(entry, { kind, cwd })) };
    });
  return {
    settings: { allowAll: settings.allowAll, allow: rules("allow"), deny: rules("deny") },
    flags: {
      gadget: flags.gadget.map((file) => resolve(cwd, file)),
      trust: flags.trust.map(withSlash),
      "allow-gadget": parseGadgetGrants(flags["allow-gadget"] ?? [], { cwd })
        .map(({ name, permissions }) => ({ name: withSlash(name), permissions })).flatMap(gadgetGrantValues),
      frozen: flags.frozen,
      "trust-project": flags["trust-project"],
      "trust-code": flags["trust-code"],
    },
  };
}
