// What a document may do only where that is granted, and whether it is for the runs of this process: whoever reads it has no command line.

import type { DocumentGrants, Soon } from "../../check/check_options.ts";
import type { DocumentFile } from "../../parse/document_file.ts";
import { placeGrants } from "../../project/document_place.ts";
import type { DocumentPlace } from "../../project/document_place.ts";
import { scriptShell } from "../../project/script_shell.ts";
import type { DocumentUses } from "../document_json.ts";
import type { NeedJson } from "./look.ts";

/** A project, and what its runs may do. */
export type GrantingPlace = Pick<DocumentPlace, "project" | "grants" | "accepted">;

type Need = Pick<NeedJson, "kind" | "of"> & { readonly lines: number[] };

/** What its operations need, and what its front matter asks for; each once, by the first line that says so. */
export async function documentNeeds(
  file: DocumentFile,
  uses: DocumentUses,
  place: GrantingPlace,
): Promise<readonly NeedJson[]> {
  const shell = scriptShell(place.project).command;
  const needs = new Map<string, Need>();
  const add = ({ kind, of }: Wanted, lines: readonly number[]): void => {
    const named = kind === "run" ? shell : of ?? null;
    const key = `${kind} ${named ?? ""}`;
    const known = needs.get(key)?.lines ?? [];
    const all = [...new Set([...known, ...lines])].sort((a, b) => a - b);
    needs.set(key, { kind, of: named, lines: all });
  };
  const line = file.settings.lines.get("permissions") ?? 1;
  for (const wanted of declared(file)) add(wanted, [line]);
  for (const { kind, path, lines } of uses.needs) {
    add({ kind, of: path }, lines);
  }
  const [outright, asked] = [false, true].map((canAsk) => placeGrants({ ...place, canAsk }));
  if (outright === undefined || asked === undefined) return [];
  return await Promise.all(
    [...needs.values()].sort((a, b) => (a.lines[0] ?? 0) - (b.lines[0] ?? 0)).map(async (need) => ({
      ...need,
      state: await isGranted(need, outright) ? "granted" : await isGranted(need, asked) ? "asked" : "refused",
      grant: need.kind === "run" && isUncounted(place) ? UNCOUNTED : grantOf(need, outright),
    })),
  );
}

type Wanted = { readonly kind: NeedJson["kind"]; readonly of?: string };

/** Reading is of the whole project without a list, which every document may do. */
function declared({ settings: { permissions: { read, write, net, run } } }: DocumentFile): readonly Wanted[] {
  return [
    ...listed("read", read === true ? false : read),
    ...listed("write", write),
    ...listed("net", net),
    ...listed("run", run),
  ];
}

function listed(kind: NeedJson["kind"], wanted: boolean | readonly string[] = false): readonly Wanted[] {
  if (typeof wanted !== "boolean") return wanted.map((of) => ({ kind, of }));
  return wanted ? [{ kind }] : [];
}

function isGranted({ kind, of }: Need, grants: DocumentGrants): Soon<boolean> {
  switch (kind) {
    case "run":
      return grants.mayRun();
    case "read":
      return grants.mayRead(of ?? ".");
    case "write":
      return grants.mayWrite(of ?? undefined);
    case "net":
      return grants.mayConnect(of ?? undefined);
    default:
      return kind satisfies never;
  }
}

/** The settings of the project name it, and nobody has accepted them. */
function isUncounted({ accepted, project: { config } }: GrantingPlace): boolean {
  return !accepted && Object.hasOwn(config.project.grants, "@shell");
}

const UNCOUNTED =
  "the grants of the project's orrery.yaml count once whoever starts this server has accepted it (--trust-project)";

function grantOf({ kind, of }: Need, { runHint, shell, flagPath }: DocumentGrants): string {
  if (kind === "run") return runHint ?? (shell === undefined ? "--allow-run" : `--allow-run=${shell}`);
  if (of === null) return `--allow-${kind}`;
  return `--allow-${kind}=${kind === "net" ? of : flagPath?.(of) ?? of}`;
}
