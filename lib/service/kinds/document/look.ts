import { typedPath } from "../../../core/core.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import type { FileList } from "../kind.ts";
import { type Json, type JsonObject, projectPath } from "../../../core/core.ts";
import type { DocumentGrants, Soon } from "../../../check/check_options.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { type DocumentFile, readDocument } from "../../../parse/document/document.ts";
import type { DocumentSettings } from "../../../parse/document/operation.ts";
import { readDocumentSettings } from "../../../parse/document/settings.ts";
import { type DocumentPlace, placeGrants } from "../../../project/document/place.ts";
import { scriptShell } from "../../../project/world.ts";
import { readDocumentText } from "../../../run/document/files.ts";
import { documentJson, type DocumentUses, inputsJson, outlineOf, usesOf } from "./outline.ts";
import { document } from "./document.ts";
import { maybeDocument } from "./found.ts";
import { walkFiles } from "../../project_files.ts";
import type { DocumentPageJson, ListedDocument, NeedJson } from "../../look/look.ts";
import { problemJson } from "../../check/report.ts";

/** Its documents as a table. */
export async function list(project: ProjectSettings): Promise<FileList> {
  const files = await documentsBelow(project.root);
  return {
    files: files.map(({ input: _input, ...listed }) => listed),
    head: ["FILE", "TITLE", "INPUTS", "OPERATIONS"],
    rows: files.map(({ file, title, inputs, operations }) => [
      typedPath(file, project),
      title ?? "",
      inputs.map(({ name, default: fallback }) => fallback === null ? name : `[${name}]`).join(", ") || "-",
      String(operations),
    ]),
    notes: files.length > 0
      ? ""
      : "The project has no documents: they are Markdown files (.md) with an operation such as @llm or @shell between their headings\n",
  };
}

/** The documents of a project: Markdown files that can be run. */
export async function documentsBelow(root: string): Promise<readonly ListedDocument[]> {
  const files = hostFiles({ root });
  const found: ListedDocument[] = [];
  for (const path of await walkFiles(root, { files, isWanted: document.file.is })) {
    const { nodes = [] } = await maybeDocument(path, files) ?? {};
    const [first] = nodes;
    if (first === undefined) continue;
    const { settings } = await readDocumentSettings(first.kind === "front-matter" ? first : undefined);
    const operations = nodes.filter(({ kind }) => kind === "operation").length;
    found.push(listedDocument(projectPath(path, root), { settings, operations }));
  }
  return found;
}

function listedDocument(
  file: string,
  { settings, operations }: { readonly settings: DocumentSettings; readonly operations: number },
): ListedDocument {
  const { title = null, description = null, inputs } = settings;
  return {
    file,
    title,
    description,
    inputs: inputsJson(inputs),
    input: inputSchema(inputs),
    operations,
  };
}

/** What a document takes, as a JSON Schema: every input is text. */
function inputSchema(inputs: DocumentSettings["inputs"]): JsonObject {
  const properties = inputs.map(({ name, description, default: value }): [string, Json] => [name, {
    type: "string",
    ...(description === undefined ? {} : { description }),
    ...(value === undefined ? {} : { default: value }),
  }]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: inputs.filter((input) => input.default === undefined).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Everything about a document. @param file relative to the root @throws {FileError} */
export async function documentData(
  file: string,
  { root, granting }: { readonly root: string; readonly granting: GrantingPlace },
): Promise<DocumentPageJson> {
  const source = await readDocumentText(hostFiles({ root }), file);
  const read = await readDocument(source, { path: file });
  const outline = await outlineOf(read);
  const uses = usesOf(read, outline);
  const { defaults, limits, operations: operationList, blocks } = documentJson(read, outline, uses);
  return {
    ...listedDocument(file, { settings: read.settings, operations: outline.operations.length }),
    source,
    ...uses,
    needs: await documentNeeds(read, uses, granting),
    defaults,
    limits,
    operationList,
    blocks,
    problems: read.problems.map((problem) => problemJson("document", file, problem)),
  };
}

// What a document may do only where that is granted, and whether it is for the runs of this process: whoever reads it has no command line.

/** A project, and what its runs may do. */
type GrantingPlace = Pick<DocumentPlace, "project" | "grants" | "accepted">;

type Need = Pick<NeedJson, "kind" | "of"> & { readonly lines: number[] };

/** What its operations need, and what its front matter asks for; each once, by the first line that says so. */
async function documentNeeds(
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
function declared({ settings: { permissions } }: DocumentFile): readonly Wanted[] {
  return (["read", "write", "net", "run"] as const).flatMap((kind): readonly Wanted[] => {
    const { [kind]: wanted = false } = permissions;
    if (typeof wanted !== "boolean") return wanted.map((of) => ({ kind, of }));
    return wanted && kind !== "read" ? [{ kind }] : [];
  });
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
