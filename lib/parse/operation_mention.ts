import type { DocumentLines } from "./document_lines.ts";
import { nearWord } from "./document_near.ts";
import type { DocumentProblem } from "./document_node.ts";
import { operationLine } from "./operation_line.ts";
import { isOperationName, OPERATION_NAMES, PARAMETERS, REQUIRED, takes } from "./operation_table.ts";
import { parameterLine } from "./parameter_line.ts";

/**
 * What is wrong with a line of text that looks like an operation: because of the line below it, which looks like a parameter, or because
 * it begins a paragraph, so that it is `isFree` (documents.md 2.7).
 */
export function mentionProblem(
  lines: DocumentLines,
  { at, isFree }: { readonly at: number; readonly isFree: boolean },
): DocumentProblem | undefined {
  const content = lines.content(at);
  if (!/^ {0,3}@/.test(content)) return undefined;
  const key = at + 1 < lines.count ? parameterLine(lines.content(at + 1))?.key : undefined;
  const withKey = key === undefined ? undefined : gluedOperation(content, key) ?? nearMiss(content) ??
    followedName(content, key) ?? strangeWord(content, key);
  const found = withKey ?? (isFree ? misplacedName(content) : undefined);
  return found === undefined ? undefined : { column: 1, ...found, line: at + 1 };
}

interface Found {
  readonly severity: DocumentProblem["severity"];
  /** Absent: the first. */
  readonly column?: number;
  readonly message: string;
}

/** An operation as it has to be written: it is text only because of the line above. */
function gluedOperation(content: string, key: string): Found | undefined {
  const name = operationLine(content);
  if (name === undefined || !takes(name, key)) return undefined;
  const message = `"@${name}" is text here: an operation needs an empty line above it`;
  return { severity: "warning", message };
}

/** `@lllm` alone; what is no letter counts as one, as in `@llm:`. */
function nearMiss(content: string): Found | undefined {
  const word = /^@([^ \t]+)[ \t]*$/.exec(content)?.[1];
  if (word === undefined || isOperationName(word)) return undefined;
  const near = nearWord(word, OPERATION_NAMES);
  if (near === undefined) return undefined;
  return { severity: "error", message: `unknown operation "@${word}" (did you mean "@${near}"?)` };
}

/** `@llm  # note`. */
function followedName(content: string, key: string): Found | undefined {
  const word = /^@([a-z]+)[ \t]+[^ \t]/i.exec(content)?.[1];
  const name = word?.toLowerCase();
  if (word === undefined || name === undefined || !isOperationName(name) || !takes(name, key)) {
    return undefined;
  }
  const message = `nothing may follow "@${word}" on its line`;
  return { severity: "error", column: word.length + 2, message };
}

function strangeWord(content: string, key: string): Found | undefined {
  const word = /^@[\p{L}\p{Nd}_-]+/u.exec(content)?.[0];
  if (word === undefined || !Object.hasOwn(PARAMETERS, key)) return undefined;
  if (operationLine(content) !== undefined) return undefined;
  return { severity: "warning", message: `"${word}" is not an operation; the line is text` };
}

/** `@import rules.md`, ` @llm`, `@Shell`. */
function misplacedName(content: string): Found | undefined {
  const word = /^ *@([a-z]+)(?=[ \t:]|$)/i.exec(content)?.[1];
  const name = word?.toLowerCase();
  if (name === undefined || !isOperationName(name)) return undefined;
  const message =
    `"@${word}" is text here: write "@${name}" alone, at the beginning of a line, and its parameters below, ` +
    `as in "${REQUIRED[name][0]}: ..."`;
  return { severity: "warning", message };
}
