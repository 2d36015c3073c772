import type { Json } from "../core/json.ts";
import type { Span } from "../core/source_error.ts";
import { printable, printableLine } from "../render/shown_text.ts";
import type { FileTest, TestFailure } from "./file_test.ts";

/** What a test came to. */
export interface TestOutcome {
  readonly test: FileTest;
  readonly failures: readonly TestFailure[];
  readonly ms: number;
}

/** A line for a test, and what is not as expected below it. */
export function testLines(
  { test, failures, ms }: TestOutcome,
  { isQuiet }: { readonly isQuiet: boolean },
): string {
  if (failures.length === 0) return isQuiet ? "" : `ok    ${headOf(test)}  ${ms} ms\n`;
  return `FAIL  ${headOf(test)}  ${ms} ms\n${failures.map(failureLines).join("")}`;
}

function headOf({ name, span }: FileTest): string {
  return `${printableLine(span.file ?? "")}: ${printableLine(name)}`;
}

function failureLines({ message, span, diff = "" }: TestFailure): string {
  const text = `${placeOf(span)}: error: ${message}\n${diff}`;
  return text.trimEnd().split("\n").map((line) => `  ${printable(line)}\n`).join("");
}

function placeOf({ file = "", line, column }: Span): string {
  return `${file}:${line}:${column}`;
}

/** The same for a program. */
export function testsJson(outcomes: readonly TestOutcome[]): Json {
  const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
  return {
    status: failed === 0 ? "done" : "failed",
    passed: outcomes.length - failed,
    failed,
    tests: outcomes.map(({ test: { name, span }, failures, ms }) => ({
      file: span.file ?? "",
      line: span.line,
      name,
      status: failures.length === 0 ? "passed" : "failed",
      ms,
      failures: failures.map(({ what, message, span: at, diff }) => ({
        what,
        file: at.file ?? "",
        line: at.line,
        column: at.column,
        message,
        ...(diff === undefined ? {} : { diff }),
      })),
    })),
  };
}
