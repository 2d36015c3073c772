import type { CheckOptions } from "../../check/targets.ts";
import type { CheckedFile } from "../kind.ts";
import { dirname } from "node:path";
import { type Catalog, didYouMean, encodeSegment, messageOf } from "../../../core/core.ts";
import { completeMarkers } from "../../../parse/calls/header.ts";
import { type CallBlock } from "../../../parse/calls/calls.ts";
import { OddMarkers } from "../../../parse/calls/odd_markers.ts";
import { PLACEHOLDER, strangeResult } from "../../../run/calls/gadget.ts";
import type { Issue } from "../../../schema/issue.ts";
import { TextValue, undecided } from "../../../schema/text_value.ts";
import { settledIssues } from "../../../schema/validate.ts";
import type { CheckPlace } from "../../check/places.ts";
import type { FoundProblem } from "../../check/report.ts";
import { callsIn, graphOfCalls } from "./graph.ts";

/** Tells what is wrong with call files: what cannot be read, what never runs, unknown gadgets, arguments that do not fit. */
export async function checkFile(
  { path, text, tell: add }: CheckedFile,
  { places }: CheckOptions,
): Promise<void> {
  const place = await places.of(dirname(path));
  if (place === undefined) return;
  const tell = (line: number, message: string, severity?: FoundProblem["severity"]): void => {
    for (const each of message.split("\n")) add({ line, severity, message: each });
  };
  const { markers } = place.project.config.calls;
  for (const { line, message } of new OddMarkers(completeMarkers(markers)).all(text)) {
    tell(line, message, "warning");
  }
  const calls = callsIn(text, { markers, leaf: undecided });
  for (const { line, message } of graphOfCalls(calls).problems) tell(line, message);
  const ids = new Set(calls.map(({ invocationId }) => invocationId));
  const { arg } = completeMarkers(markers);
  for (const call of calls) {
    const problems = [...await callProblems(call, { place, arg }), ...resultProblems(call, { ids, arg })];
    for (const { line, message, severity } of problems) tell(line, message, severity);
  }
}

/** What is written like a result of a call, and is none that this one has. */
function resultProblems(
  call: CallBlock,
  { ids, arg }: { readonly ids: ReadonlySet<string>; readonly arg: string },
): readonly CallProblem[] {
  if (call.parseError !== undefined) return [];
  return leavesOf(call.parameters).flatMap(({ pointer, text }) => {
    const at = call.line + lineOf(pointer, { call, arg });
    const first = at === call.line ? at : at + 1;
    const problems: CallProblem[] = [];
    for (const { 0: written, 1: id = "", index } of text.matchAll(PLACEHOLDER)) {
      const line = first + text.slice(0, index).split("\n").length - 1;
      const message = strangeResult(id, call, { isKnown: ids.has(id) });
      if (message !== undefined) problems.push({ line, message });
      else if (!call.dependencies.includes(id)) {
        problems.push({
          line,
          severity: "warning",
          message: `${written} stays as it is: no call has the id "${id}"`,
        });
      }
    }
    const isTemplate = call.gadgetName === "Template" && pointer === "template";
    for (const { 0: written, 1: prefix, 2: id = "", index } of isTemplate ? [] : text.matchAll(FOREIGN)) {
      if (prefix === undefined ? !call.dependencies.includes(id) : !ids.has(id)) continue;
      const line = first + text.slice(0, index).split("\n").length - 1;
      const message = `${written} stays as it is; the result of a call is {{results.${id}}}`;
      problems.push({ line, severity: "warning", message });
    }
    return problems;
  });
}

/** `{id}`, `{{id}}`, `{results.id}`, `${results.id}` */
const FOREIGN = /(?<!\{)\{(?:\{(?!results\.))?[ \t]*(results\.)?([A-Za-z_][\w.-]*)[ \t]*\}\}?(?!\})/g;

interface Leaf {
  readonly pointer: string;
  readonly text: string;
}

function leavesOf(tree: unknown, pointer = ""): readonly Leaf[] {
  const text = tree instanceof TextValue ? tree.text : tree;
  if (typeof text === "string") return [{ pointer, text }];
  if (typeof text !== "object" || text === null) return [];
  return Object.entries(text).flatMap(([key, child]) =>
    leavesOf(child, `${pointer === "" ? "" : `${pointer}/`}${encodeSegment(key)}`)
  );
}

interface CallProblem {
  readonly line: number;
  readonly message: string;
  readonly severity?: FoundProblem["severity"];
}

async function callProblems(
  call: CallBlock,
  { place, arg }: { readonly place: CheckPlace; readonly arg: string },
): Promise<readonly CallProblem[]> {
  const { gadgetName, line, parameters, parseError } = call;
  if (parseError !== undefined) return [];
  const entry = place.catalog.maybeFind(gadgetName);
  if (entry === undefined) {
    if (place.isServerTool(gadgetName)) return [];
    return [{ line, message: unknownGadget(gadgetName, place.catalog) }];
  }
  if (entry.state === "broken") {
    return [{ line, message: entry.problem ?? `Gadget "${gadgetName}" is broken` }];
  }
  if (entry.state !== "ready" || entry.source.kind === "mcp") return []; // what a server takes only a run knows
  let issues: readonly Issue[];
  try {
    issues = await settledIssues(
      (await entry.load()).input,
      parameters,
      (text) => text.includes("{{results."),
    );
  } catch (thrown) {
    return [{ line, message: messageOf(thrown) }];
  }
  return issues.map((issue) => ({
    line: line + lineOf(issue.pointer, { call, arg }),
    message: `${gadgetName} does not take this: ${
      issue.pointer === "" ? "" : `${issue.pointer}: `
    }${issue.message}`,
  }));
}

function unknownGadget(name: string, { entries }: Catalog): string {
  return `Unknown gadget "${name}".${didYouMean(name, entries.map((entry) => entry.name))}`;
}

/** How far below the header the argument begins; 0 where it has no line of its own. */
function lineOf(
  pointer: string,
  { call: { parametersRaw }, arg }: { readonly call: CallBlock; readonly arg: string },
): number {
  const lines = parametersRaw.split("\n");
  return lines.findIndex((line) => line.startsWith(arg) && line.slice(arg.length).trim() === pointer) + 1;
}
