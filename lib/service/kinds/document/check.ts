import type { CheckedFiles, CheckFlags, CheckOptions } from "../../check/targets.ts";
import { checkDocument } from "../../../check/check_document.ts";
import type { CheckedDocument, DocumentCommandInput, FileProblem } from "../../../check/check_options.ts";
import { dirname, resolve } from "node:path";
import { hostFiles } from "../../../host/files/files.ts";
import type { DocumentTree } from "../../../parse/document/tree.ts";
import { readOperation } from "../../../parse/document/read_operation.ts";
import type { CheckPlace } from "../../check/places.ts";
import type { CheckReport } from "../../check/report.ts";
import { maybeDocument } from "./found.ts";
import { homeCheck, placeHome } from "../../../project/document/place.ts";
import { pathInProject } from "../../../host/paths.ts";

/**
 * Checks the documents that were named, and those that were found. A document that is found and that another one imports or runs is looked at
 * as a part of that one: its references may lead to blocks of the other.
 */
export async function check(
  { named, found: candidates }: CheckedFiles,
  options: CheckOptions,
): Promise<void> {
  const found = await foundDocuments(candidates);
  const parts = new Set<string>();
  for (const [path, tree] of found) for (const used of await usedBy(path, tree)) parts.add(used);
  const entries = [...found.keys()].filter((path) => !parts.has(path));
  for (const path of [...named, ...entries]) await checkOne(path, options);
  for (const path of found.keys()) if (!options.report.has(path)) await checkOne(path, options);
}

async function foundDocuments(candidates: ReadonlySet<string>): Promise<ReadonlyMap<string, DocumentTree>> {
  const files = hostFiles({ root: "/" });
  const found = new Map<string, DocumentTree>();
  for (const path of candidates) {
    const tree = await maybeDocument(path, files);
    if (tree !== undefined) found.set(path, tree);
  }
  return found;
}

/** The files that a document names, absolute; not itself. */
async function usedBy(path: string, { nodes }: DocumentTree): Promise<readonly string[]> {
  const used: string[] = [];
  for (const node of nodes) {
    if (node.kind !== "operation" || (node.name !== "import" && node.name !== "run")) continue;
    const { fields } = await readOperation(node);
    if (fields !== undefined && "file" in fields) used.push(resolve(dirname(path), fields.file));
  }
  return used.filter((other) => other !== path);
}

async function checkOne(path: string, { places, report, flags }: CheckOptions): Promise<void> {
  report.file(path);
  const place = await places.of(dirname(path));
  if (place === undefined) return;
  const { project, catalog } = place;
  const { prompt, values, model, mode } = flags;
  const input: DocumentCommandInput = {
    values,
    blocks: flags.blocks.map((block) => ({ ...block, file: pathInProject(block.file, project) })),
    prompt,
  };
  const home = homeCheck(placeHome(place));
  const checked = await checkDocument(pathInProject(path, project), {
    ...home,
    read: async (file) => places.textOf(resolve(project.root, file)) ?? await home.read(file),
    toolNames: () => catalog.entries.map(({ name }) => name),
    input,
    model,
    mode,
  });
  for (const [file, { text }] of checked.files) report.file(resolve(project.root, file), text);
  for (const problem of checked.problems) addProblem(problem, { checked, place, flags, report });
}

/** A flag of the run that would help ends the message (documents.md 10.4, 13). */
const GRANT = /\(--allow-(?:read|write|net|run)(?:=.*)?\)$/s;
const MISSING_INPUT = /^input ".*" needs a value \(--input .*=\.\.\.\)$/s;

function addProblem(
  problem: FileProblem,
  { checked: { entry }, place, flags, report }: {
    readonly checked: CheckedDocument;
    readonly place: CheckPlace;
    readonly flags: CheckFlags;
    readonly report: CheckReport;
  },
): void {
  const { file, line, column, severity } = problem;
  const message = problem.message.replaceAll(/\s*\n\s*/g, " ");
  const tool = /^unknown tool "([^"]*)"/.exec(message)?.[1];
  if (tool !== undefined && place.isServerTool(tool)) return;
  const pathOf = (shown: string): string => resolve(place.project.root, shown);
  if (file === "" && MISSING_INPUT.test(message) && !flags.isGiving && entry !== undefined) {
    const at = { path: pathOf(entry.path), line: entry.settings.lines.get("inputs") ?? 1, column: 1 };
    return report.add({ kind: "document", ...at, severity: "warning", message });
  }
  const isLeft = !place.isGranting && GRANT.test(message);
  report.add({
    kind: file === "" ? "command" : "document",
    path: file === "" ? "" : pathOf(file),
    line,
    column,
    severity: isLeft ? "warning" : severity,
    message,
  });
}
