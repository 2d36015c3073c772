import type { DocumentCommandInput } from "../check/check_options.ts";
import { systemClock } from "../core/clock.ts";
import type { Json } from "../core/json.ts";
import { textOf } from "../core/message.ts";
import { wrappedModel } from "../core/model.ts";
import type { Model, ModelRequest } from "../core/model.ts";
import { dirname, resolve } from "../core/path.ts";
import { messageOf } from "../core/source_error.ts";
import type { Span } from "../core/source_error.ts";
import { LiveDocument } from "../document/live_document.ts";
import { nodeBodies } from "../document/node_text.ts";
import { scriptModel } from "../models/script_model.ts";
import { parseDocument } from "../parse/document.ts";
import { DocumentCheckError } from "../project/document_check_error.ts";
import { resultText } from "../render/shown_text.ts";
import { shownPath } from "../run/document_paths.ts";
import { readDocumentTests } from "./document_test_file.ts";
import type { DocumentExpectation, DocumentTest } from "./document_test_file.ts";
import type { FileTest, TestFailure, TestSource } from "./file_test.ts";
import { runTestedDocument } from "./test_document_run.ts";
import type { TestProject, TestProjects } from "./test_projects.ts";
import { testWorld } from "./test_world.ts";
import { textFailure } from "./text_wanted.ts";

/** The tests of a `*.document-test.yml`. @throws {ProblemsError} */
export async function documentTests(
  source: TestSource,
  projects: TestProjects,
): Promise<readonly FileTest[]> {
  const folder = dirname(source.path);
  const project = await projects.of(folder);
  return (await readDocumentTests(source)).map((test) => ({
    name: test.name,
    span: test.span,
    run: async () => await failuresOf(test, { project, folder }),
  }));
}

/** Where a test is kept. */
interface TestPlace {
  readonly project: TestProject;
  readonly folder: string;
}

/** What a document came to. */
interface Outcome {
  readonly exit: 0 | 1 | 2;
  readonly error?: string;
  readonly value?: Json;
  readonly result?: string;
  readonly requests: readonly ModelRequest[];
}

async function failuresOf(test: DocumentTest, place: TestPlace): Promise<readonly TestFailure[]> {
  try {
    return compared(await outcomeOf(test, place), test);
  } catch (error) {
    return [{ what: "run", span: test.span, message: messageOf(error) }];
  }
}

async function outcomeOf(test: DocumentTest, { project, folder: kept }: TestPlace): Promise<Outcome> {
  await using opened = await testWorld(test, { root: project.settings.root, folder: kept });
  const { world, folder } = opened;
  const requests: ModelRequest[] = [];
  const model = noting(scriptModel(test.model, { id: "script/test", clock: systemClock }), requests);
  const pathOf = (named: string): string => shownPath(resolve(folder, named), world.root);
  try {
    const events = runTestedDocument({
      path: pathOf(test.document),
      input: inputOf(test, pathOf),
      world,
      project,
      model,
    });
    for await (const event of events) {
      if (event.type !== "run-end") continue;
      const { status, error, value, document } = event;
      return {
        exit: status === "done" ? 0 : 1,
        requests,
        error,
        value,
        result: document,
      };
    }
  } catch (error) {
    if (!(error instanceof DocumentCheckError)) throw error;
    return { exit: 2, error: error.message, requests };
  }
  throw new Error("the run has no end");
}

function inputOf({ input }: DocumentTest, pathOf: (named: string) => string): DocumentCommandInput {
  const { prompt, values, blocks } = input;
  return {
    values,
    blocks: blocks.map((block) => {
      const at = block.lastIndexOf("#");
      return { file: pathOf(block.slice(0, at)), reference: block.slice(at + 1) };
    }),
    prompt,
  };
}

/** Keeps what the model is asked. */
function noting(model: Model, requests: ModelRequest[]): Model {
  return wrappedModel(model, (request) => {
    requests.push({ ...request, messages: [...request.messages] });
    return model.stream(request);
  });
}

function compared(outcome: Outcome, { expect, span }: DocumentTest): readonly TestFailure[] {
  const { error, value, result } = outcome;
  const failures: (TestFailure | undefined)[] = [exitFailure(outcome, { expect, span })];
  if (expect.error !== undefined) failures.push(textFailure(error, { what: "error", wanted: expect.error }));
  if (expect.value !== undefined) failures.push(valueFailure(value, expect.value));
  if (expect.result !== undefined) {
    failures.push(textFailure(result, { what: "result", wanted: expect.result }));
  }
  failures.push(...blockFailures(result, expect), ...messageFailures(outcome.requests, expect));
  return failures.filter((failure) => failure !== undefined);
}

function exitFailure(
  { exit, error }: Outcome,
  { expect, span }: { readonly expect: DocumentExpectation; readonly span: Span },
): TestFailure | undefined {
  const why = error === undefined ? "" : `: ${error}`;
  if (expect.exit !== undefined) {
    const { code, span: at } = expect.exit;
    return exit === code
      ? undefined
      : { what: "exit", span: at, message: `exit is ${exit}, expected ${code}${why}` };
  }
  const isErrorWanted = expect.error !== undefined;
  if (isErrorWanted === (exit !== 0)) return undefined;
  return isErrorWanted
    ? undefined // told by the error that is not there
    : { what: "exit", span, message: `exit is ${exit}, expected 0${why}` };
}

function valueFailure(
  value: Json | undefined,
  wanted: NonNullable<DocumentExpectation["value"]>,
): TestFailure | undefined {
  const text = value === undefined ? undefined : resultText(value);
  if (!("none" in wanted)) return textFailure(text, { what: "value", wanted });
  if (text === undefined) return undefined;
  return {
    what: "value",
    span: wanted.none,
    message: `there is a value, expected none: ${JSON.stringify(text)}`,
  };
}

function blockFailures(
  result: string | undefined,
  { blocks }: DocumentExpectation,
): readonly (TestFailure | undefined)[] {
  if (blocks.length === 0) return [];
  const live = new LiveDocument(parseDocument(result ?? ""));
  return blocks.map(({ reference, wanted }) => {
    const what = `block ${reference}`;
    const found = live.maybeFind(reference.replace(/\/\*$/, "")) === undefined
      ? undefined
      : nodeBodies(live.select([reference])).trim();
    return textFailure(found, { what, wanted });
  });
}

function messageFailures(
  requests: readonly ModelRequest[],
  { messages: wanted }: DocumentExpectation,
): readonly (TestFailure | undefined)[] {
  if (wanted === undefined) return [];
  if (wanted.calls.length !== requests.length) {
    const message = `the model was asked ${requests.length} times, expected ${wanted.calls.length}`;
    return [{ what: "messages", span: wanted.span, message }];
  }
  return wanted.calls.flatMap((call, index) => {
    const sent = requests[index]?.messages ?? [];
    const what = `messages of model call ${index + 1}`;
    const roles = sent.map(({ role }) => role).join(", ");
    if (roles !== call.messages.map(({ role }) => role).join(", ")) {
      return [{ what, span: call.span, message: `${what} have other roles, found ${roles}` }];
    }
    return call.messages.map(({ role, wanted }, n) => {
      const message = sent[n];
      return textFailure(message === undefined ? undefined : textOf(message), {
        what: `${role} message ${n + 1} of model call ${index + 1}`,
        wanted,
      });
    });
  });
}
