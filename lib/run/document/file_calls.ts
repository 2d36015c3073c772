// Documents that are run by calls (calls.md 5): the steps of each are steps of the run, below the key of its call.
import { isRecord, type Json, orAborted, pathFromFolder } from "../../core/core.ts";
import { LiveDocument } from "../../document/live_document.ts";
import { type DocumentFile, readDocument } from "../../parse/document/document.ts";
import { CallChains, type ContainerCall, type Containers } from "../calls/container.ts";
import { CallError } from "../calls/step.ts";
import { checkedError, depthProblem, documentInputs } from "./callee.ts";
import { DocumentFailure, OperationError } from "./failure.ts";
import type { DocumentMeans } from "./means.ts";
import { type DocumentEnd, runFile } from "./run_file.ts";
import { pathFrom, readDocumentText } from "./files.ts";
import { EffectError, takeIn } from "../effect.ts";
import { notedTools } from "../turn/offered.ts";

/**
 * Runs documents for the calls of a run. No result document is written for them: a call answers with its value, and leaves no file
 * behind that nobody asked for.
 *
 * @param open gives what the document of a call works with; each has means of its own, since each has bounds of its own
 */
export function fileCalls(
  open: (call: ContainerCall) => Promise<DocumentMeans>,
): Required<Pick<Containers, "document">> {
  const chains = new CallChains<DocumentFile>("op[");
  return {
    async document(call) {
      try {
        const wanted = wantedFile(call.parameters);
        const means = meansOfCall(await orAborted(open(call), call.signal));
        return fileValue(await orAborted(runCalled(call, { wanted, means, chains }), call.signal));
      } catch (error) {
        throw callFailureOf(error, String(call.parameters.file));
      }
    },
  };
}

async function runCalled(
  { run, keyPrefix }: ContainerCall,
  { wanted, means, chains }: {
    readonly wanted: WantedFile;
    readonly means: DocumentMeans;
    readonly chains: CallChains<DocumentFile>;
  },
): Promise<DocumentEnd> {
  const path = pathFromFolder(pathFrom("", wanted.file), means.root);
  const above = chains.above(keyPrefix);
  const tooDeep = depthProblem(above, path);
  if (tooDeep !== undefined) throw new CallError(`RunFile ${tooDeep}`, "failed");
  const read = () => readDocumentText(means.files, path, { signal: run.signal });
  const text = String(
    await takeIn(run, { key: `${keyPrefix}read`, kind: "read", name: path, perform: read }),
  );
  const file = await readDocument(text, { path });
  const wrong = await checkedError(file, { run, means, key: `${keyPrefix}check`, chain: above });
  if (wrong !== undefined) throw refusalOf(wrong);
  const { prompt, inputs } = wanted;
  const input = documentInputs(file, {
    text: "",
    values: new Map(Object.entries(inputs)),
    prompt,
  });
  const chain = [...above, file];
  using _link = chains.add(chain, keyPrefix);
  return await runFile({
    run,
    means: { ...means, tools: notedTools(run, { tools: means.tools, keyPrefix }) },
    file,
    live: new LiveDocument(file.tree, { input }),
    chain,
    saved: new Set(),
    keyPrefix,
  });
}

/** A permission that was not granted is told with its flag at the end of the line (documents.md 13.1). */
function refusalOf(line: string): CallError {
  const flag = /\((--allow-[^()]+)\)$/.exec(line)?.[1];
  return flag === undefined ? new CallError(line, "input") : new CallError(line, "permission", flag);
}

/** A failure with the code that its call is to have. */
function callFailureOf(error: unknown, file: string): unknown {
  if (error instanceof DocumentFailure) {
    return new CallError(`${file} failed: ${error.innermost}`, "failed");
  }
  if (error instanceof OperationError) return new CallError(error.message, "input");
  if (!(error instanceof EffectError)) return error;
  const { message, code, flag } = error.failure;
  return code === "permission" ? new CallError(message, "permission", flag) : new CallError(message, "input");
}

// What a call of `RunFile` names and what it gets, wherever it is called.

/** What a call of `RunFile` names. */
interface WantedFile {
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
