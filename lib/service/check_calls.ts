import type { Catalog } from "../core/catalog.ts";
import { withoutByteOrderMark } from "../core/file_text.ts";
import { didYouMean } from "../core/nearest.ts";
import { dirname } from "../core/path.ts";
import { messageOf } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { CallParser } from "../parse/call_parser.ts";
import type { CallBlock } from "../parse/call_parser.ts";
import { OddMarkers } from "../parse/odd_markers.ts";
import { completeMarkers } from "../parse/call_header.ts";
import { settledIssues } from "../schema/check_input.ts";
import type { Issue } from "../schema/issue.ts";
import { undecided } from "../schema/text_value.ts";
import type { CheckPlace, CheckPlaces } from "./check_places.ts";
import type { CheckReport } from "./check_report.ts";
import { graphOfCalls } from "./graph_of_calls.ts";

/** Tells what is wrong with a call file: what cannot be read, what never runs, unknown gadgets, arguments that do not fit. */
export async function checkCalls(
  path: string,
  { places, report }: { readonly places: CheckPlaces; readonly report: CheckReport },
): Promise<void> {
  report.file(path);
  const place = await places.of(dirname(path));
  if (place === undefined) return;
  const tell = (line: number, message: string): void => {
    for (const each of message.split("\n")) {
      report.add({ kind: "calls", path, line, column: 1, severity: "error", message: each });
    }
  };
  const text = places.textOf(path) ?? await maybeText(path, (message) => tell(1, message));
  if (text === undefined) return;
  report.file(path, text);
  const { markers } = place.project.config.calls;
  for (const { line, message } of new OddMarkers(completeMarkers(markers)).all(text)) {
    report.add({ kind: "calls", path, line, column: 1, severity: "warning", message });
  }
  const parser = new CallParser({ markers, leaf: undecided });
  const calls = [...parser.push(withoutByteOrderMark(text)), ...parser.end()]
    .flatMap((event) => event.type === "call-end" ? [event.call] : []);
  for (const { line, text: message } of graphOfCalls(calls).problems) tell(line, message);
  for (const call of calls) {
    for (const { line, message } of await callProblems(call, { place, arg: completeMarkers(markers).arg })) {
      tell(line, message);
    }
  }
}

async function maybeText(path: string, tell: (message: string) => void): Promise<string | undefined> {
  try {
    return await hostFiles({ root: dirname(path) }).readText(path);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    tell(thrown.message);
    return undefined;
  }
}

interface CallProblem {
  readonly line: number;
  readonly message: string;
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
    line: line + lineOf(issue, { call, arg }),
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
  { pointer }: Issue,
  { call: { parametersRaw }, arg }: { readonly call: CallBlock; readonly arg: string },
): number {
  const lines = parametersRaw.split("\n");
  return lines.findIndex((line) => line.startsWith(arg) && line.slice(arg.length).trim() === pointer) + 1;
}
