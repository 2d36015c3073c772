import type { DocumentLines } from "./document_lines.ts";
import { didYouMean } from "./document_near.ts";
import type { DocumentProblem } from "./document_node.ts";
import { headingLine } from "./heading_line.ts";
import { OpenValue } from "./open_value.ts";
import { operationLine } from "./operation_line.ts";
import { type OperationName, parametersOf, takes } from "./operation_table.ts";
import { type ParameterLine, parameterLine } from "./parameter_line.ts";

/** How far the body of an operation goes, and what is wrong with its lines. */
export interface OperationBody {
  /** The first line behind it; the empty lines that the operation owns come next. */
  readonly end: number;
  readonly problems: readonly DocumentProblem[];
}

/** Reads the body that begins in a line, the one below `@name` (documents.md 2.8). */
export function operationBody(lines: DocumentLines, first: number, name: OperationName): OperationBody {
  const problems: DocumentProblem[] = [];
  let value: OpenValue | undefined;
  let end = first;
  for (let at = nextLine(); at < lines.count; at = nextLine()) {
    const line = lines.content(at);
    const parameter = parameterLine(line);
    if (parameter !== undefined) {
      if (!takes(name, parameter.key)) problems.push(unknownParameter(name, parameter, at));
      value = new OpenValue(parameter.rest);
    } else if (isIndented(line) || isItem(line)) value?.add(line);
    else break;
    end = at + 1;
  }
  return { end, problems: [...problems, ...gluedProblem(lines, end, name)] };

  /** The next line that may be of the body: behind empty ones only what the value or the operation asks for. */
  function nextLine(): number {
    const next = lines.filled(end);
    if (next === end || next === lines.count) return next;
    return goesOn(lines.content(next), name, value) ? next : lines.count;
  }
}

function goesOn(line: string, name: OperationName, value: OpenValue | undefined): boolean {
  if (isIndented(line)) return value?.takesIndented === true;
  if (isItem(line)) return value?.isMissing === true;
  const parameter = parameterLine(line);
  return parameter !== undefined && takes(name, parameter.key);
}

/** What stands below the body without an empty line between; a heading may. */
function gluedProblem(lines: DocumentLines, at: number, name: OperationName): readonly DocumentProblem[] {
  if (at >= lines.count || lines.isEmpty(at)) return [];
  const line = lines.content(at);
  if (headingLine(line) !== undefined) return [];
  const next = operationLine(line);
  const message = next === undefined
    ? `text directly under @${name}: put an empty line before it, or indent it if it belongs to the value above`
    : `an empty line is needed before "@${next}"`;
  return [{ severity: "error", line: at + 1, column: 1, message }];
}

function unknownParameter(name: OperationName, { key }: ParameterLine, at: number): DocumentProblem {
  const message = `@${name} has no parameter "${key}"${didYouMean(key, parametersOf(name))}`;
  return { severity: "error", line: at + 1, column: 1, message };
}

const isIndented = (line: string): boolean => line.startsWith(" ") || line.startsWith("\t");

const isItem = (line: string): boolean => /^-(?:[ \t]|$)/.test(line);
