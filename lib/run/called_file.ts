// What a call of `RunFile` names and what it gets, wherever it is called.

import { isRecord } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { CallError } from "./call_step.ts";
import type { ContainerCall } from "./container.ts";
import type { DocumentMeans } from "./document_means.ts";
import type { DocumentEnd } from "./document_run.ts";

/** What a call of `RunFile` names. */
export interface WantedFile {
  /** Relative to the project root. */
  readonly file: string;
  readonly prompt?: string;
  readonly inputs: Readonly<Record<string, string>>;
}

/** What a call names; the gadget's schema has looked at it. @throws {CallError} for a file of another kind */
export function wantedFile({ file, prompt, inputs }: ContainerCall["parameters"]): WantedFile {
  const path = String(file);
  if (/\.ctx$/i.test(path)) {
    const source = `${path.slice(0, -".ctx".length)}.md`;
    throw new CallError(
      `"${path}" is the result of a document: run the document itself, "${source}"`,
      "input",
    );
  }
  if (!/\.md$/i.test(path)) {
    throw new CallError(`RunFile runs documents, whose names end with .md; found "${path}"`, "input");
  }
  return {
    file: path,
    inputs: isRecord(inputs)
      ? Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, String(value)]))
      : {},
    ...(typeof prompt === "string" && { prompt }),
  };
}

/** What a document gives to the call: what it returns, else the last answer of a model, else null. */
export function fileValue({ returned, answer }: DocumentEnd): Json {
  return returned?.text ?? answer ?? null;
}

/** The same means, for a document that a call runs: nobody wants its result document, and whoever calls goes on when it fails. */
export function meansOfCall({ result: _result, ...means }: DocumentMeans): DocumentMeans {
  return { ...means, keepsFailures: true };
}
