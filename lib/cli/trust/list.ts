import { resolve } from "node:path";
import { didYouMean, type PermissionKind, shownWord } from "../../core/core.ts";
import { sightOf } from "../../host/paths.ts";
import { permissionLines, permissionsOf } from "../../policy/permission_sets.ts";
import { isPathEntry } from "../../policy/policy_settings.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { tableText } from "../../render/page_text.ts";
import { printable } from "../../render/shown_text.ts";
import { UsageError } from "../../service/exit_code.ts";
import { namedBy, type TrustRow, trustRows } from "../../service/trust/rows.ts";
import { permissionWords } from "../gadget_words.ts";
import type { Told } from "../page.ts";

/** `orrery trust`. */
export async function trustList(project: ProjectSettings): Promise<Told> {
  const rows = await trustRows(project);
  return {
    json: rows,
    text: tableText(["NAME", "ALLOWED BY", "STATE", "MAY"], rows.map((row) => cellsOf(row, project.root))),
    notes: rows.length > 0
      ? ""
      : "Nothing is allowed for good here. To allow a gadget: orrery trust allow NAME\n",
  };
}

/** `orrery trust NAME`. @throws {UsageError} when nothing of that name is allowed */
export async function trustPage(name: string, project: ProjectSettings): Promise<Told> {
  const rows = await trustRows(project);
  const found = namedBy(name, rows);
  if (found.length === 0) throw notAllowed(name, rows);
  return { json: found, text: printable(found.map((row) => pageOf(row, project.root)).join("\n")) };
}

/** Nothing of that name is allowed for good. */
export function notAllowed(name: string, rows: readonly Pick<TrustRow, "name">[]): UsageError {
  const near = didYouMean(name, rows.map((row) => row.name));
  return new UsageError(
    `Nothing called ${JSON.stringify(name)} is allowed for good here.${near} All: orrery trust`,
    "trust",
  );
}

function cellsOf(row: TrustRow, root: string): readonly string[] {
  const state = row.counts ? "as it was" : row.reasons.join("; ");
  return [row.name, row.from, row.file === undefined && row.counts ? "" : state, mayWords(row, root)];
}

function mayWords({ grant, reached, kind }: TrustRow, root: string): string {
  if (grant === "trusted") return "all that it asks for";
  if (grant === undefined) return reached ?? (kind === "server" ? "be started or reached" : "");
  return permissionWords(permissionsOf((of) => {
    const list = grant[of];
    return list === undefined || list === true
      ? list
      : list.map((entry) => entry + sightWords(entry, of, root));
  }));
}

/** What the path of a grant hides. */
function sightWords(entry: string, kind: PermissionKind, root: string): string {
  if (!isPathEntry(entry, kind)) return "";
  const path = resolve(root, entry);
  const { real, named } = path === root ? { real: path, named: [] } : sightOf(path);
  return `${real === path ? "" : ` -> ${real}`}${
    named.length === 0 ? "" : ` with hard links, such as ${named[0]}`
  }`;
}

function pageOf(row: TrustRow, root: string): string {
  const { name, from, file, grant, reasons } = row;
  const may = grant === undefined || grant === "trusted"
    ? [mayWords(row, root)]
    : permissionLines(grant, { root, sightOf });
  return [
    `${shownWord(name)}${file === undefined ? "" : ` (${shownWord(file)})`}: allowed by ${shownWord(from)}`,
    ...(may.length === 0 ? ["nothing: it needs no grant"] : may).map((line) => `  ${line}`),
    ...(reasons.length === 0 ? [] : ["It does not count:", ...reasons.map((line) => `  ${line}`)]),
    "",
  ].join("\n");
}
