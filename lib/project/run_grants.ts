// What the user allowed a run is kept for its resume among the user's own files, never in the journal: a database that came with a
// repository must not grant anything.

import { isJsonObject, toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { join, resolve } from "../core/path.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { stateFolder } from "../host/paths.ts";
import { removeFile } from "../host/journal_files.ts";
import { gadgetGrantValues, parseGadgetGrants } from "../policy/gadget_grants.ts";
import { absoluteEntry } from "../policy/permission_entry.ts";
import { rulesByKind } from "../policy/policy_settings.ts";
import { grantsNothing, NO_GRANTS } from "./grants.ts";
import type { RunGrants } from "./grants.ts";

/** Keeps what a run of the project in `root` was allowed; paths are kept as absolute ones. Nothing is written when that is nothing. */
export async function keepGrants(
  id: string,
  grants: RunGrants,
  place: { readonly root: string; readonly cwd: string },
): Promise<void> {
  const folder = stateFolder();
  if (folder === undefined || grantsNothing(grants)) return;
  const kept = { root: place.root, ...absoluteGrants(grants, place.cwd) };
  await hostFiles({ root: folder, mode: 0o600 }).writeText(fileOf(id), `${JSON.stringify(kept)}\n`);
}

/** What the run of that project was allowed. */
export async function keptGrants(id: string, { root }: { readonly root: string }): Promise<RunGrants> {
  const folder = stateFolder();
  if (folder === undefined) return NO_GRANTS;
  try {
    const kept: Json = JSON.parse(await hostFiles({ root: folder }).readText(fileOf(id)));
    return isJsonObject(kept) && kept.root === root ? grantsFrom(kept) : NO_GRANTS;
  } catch (error) {
    if (error instanceof FileError || error instanceof SyntaxError) return NO_GRANTS;
    throw error;
  }
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
  return {
    settings: {
      allowAll: a.settings.allowAll || b.settings.allowAll,
      allow: rules("allow"),
      deny: rules("deny"),
      ...((a.settings.runsByGrant ?? b.settings.runsByGrant) && { runsByGrant: true }),
    },
    flags: {
      gadget: [...new Set([...a.flags.gadget, ...b.flags.gadget])],
      trust: [...new Set([...a.flags.trust, ...b.flags.trust])],
      "allow-gadget": [...new Set([...a.flags["allow-gadget"] ?? [], ...b.flags["allow-gadget"] ?? []])],
      frozen: a.flags.frozen === true || b.flags.frozen === true,
      "trust-project": a.flags["trust-project"] || b.flags["trust-project"],
      "trust-code": a.flags["trust-code"] === true || b.flags["trust-code"] === true,
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
      "allow-gadget": parseGadgetGrants(flags["allow-gadget"] ?? [], { cwd }).map((
        { name, permissions },
      ) => ({
        name: withSlash(name),
        permissions,
      })).flatMap(gadgetGrantValues),
      frozen: flags.frozen ?? false,
      "trust-project": flags["trust-project"],
      "trust-code": flags["trust-code"] ?? false,
    },
  };
}

function grantsFrom(kept: { readonly [name: string]: Json }): RunGrants {
  const settings = objectAt(kept, "settings");
  const flags = objectAt(kept, "flags");
  const rules = (verb: string) =>
    rulesByKind((kind) => {
      const rule = objectAt(objectAt(settings, verb), kind);
      return { all: rule.all === true, list: textsAt(rule, "list") };
    });
  return {
    settings: { allowAll: settings.allowAll === true, allow: rules("allow"), deny: rules("deny") },
    flags: {
      gadget: textsAt(flags, "gadget"),
      trust: textsAt(flags, "trust"),
      "allow-gadget": textsAt(flags, "allow-gadget"),
      frozen: flags.frozen === true,
      "trust-project": flags["trust-project"] === true,
      "trust-code": flags["trust-code"] === true,
    },
  };
}

function objectAt(value: { readonly [name: string]: Json }, name: string): { readonly [name: string]: Json } {
  const found = toJson(value[name] ?? null);
  return isJsonObject(found) ? found : {};
}

function textsAt(value: { readonly [name: string]: Json }, name: string): readonly string[] {
  const found = value[name];
  return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
}
