// `*.document-test.yml`: documents with what they are given, what a model says, and what is to come of it.
import {
  type Json,
  type JsonObject,
  type ModelRequest,
  overlayFiles,
  pathFromFolder,
  type Shell,
  systemClock,
  wrappedModel,
} from "../../../core/core.ts";
import { dirname, join, relative, resolve } from "node:path";
import { type DocumentCommandInput, maybeBlock } from "../../../check/check_options.ts";
import { LiveDocument } from "../../../document/live_document.ts";
import { nodeBodies } from "../../../document/live_node.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { realPath } from "../../../host/paths.ts";
import { hostShell } from "../../../host/commands/shell.ts";
import { copyFile, temporaryFolder } from "../../../host/files/private_folder.ts";
import { scriptModel } from "../../../models/script.ts";
import { parseDocument } from "../../../parse/document/document.ts";
import { createPolicy } from "../../../policy/policy.ts";
import { parsePolicyFlags } from "../../../policy/policy_settings.ts";
import type { DocumentWorld } from "../../../project/bounded_world.ts";
import { DocumentCheckError } from "../../program/document.ts";
import { resultText } from "../../../render/shown_text.ts";
import { walkFiles } from "../../project_files.ts";
import { type TestFailure, TestField, type TestSource } from "../../test/field.ts";
import {
  fileOf,
  list,
  mapping,
  name,
  pattern,
  ref,
  reply,
  said,
  text,
  texts,
  wanted,
} from "../../test/schema.ts";
import { runTestedDocument, type TestProject } from "../../test/project.ts";
import type { FileTest } from "../kind.ts";

/** The tests of a `*.document-test.yml`. @throws {ProblemsError} with everything that is wrong with it */
export async function read(source: TestSource): Promise<readonly FileTest[]> {
  const file = await TestField.read(source, schema());
  for (const test of file.at("tests").items()) {
    const isGiven = test.at("document").isThere || file.at("document").isThere;
    if (!isGiven) test.problem("Expected a document: the file that is tested");
    for (const reply of test.at("model").items()) reply.reply();
  }
  file.throwProblems();
  return file.at("tests").items().map((test) => ({
    name: test.at("name").text() ?? "",
    span: test.span,
    run: async (project) =>
      compared(await outcomeOf(test, { file, project, folder: dirname(source.path) }), test),
  }));
}

/** What a document came to. */
interface Outcome {
  readonly exit: 0 | 1 | 2;
  readonly error?: string;
  readonly value?: Json;
  readonly result?: string;
  readonly requests: readonly ModelRequest[];
}

async function outcomeOf(
  test: TestField,
  { file, project, folder: kept }: {
    readonly file: TestField;
    readonly project: TestProject;
    readonly folder: string;
  },
): Promise<Outcome> {
  const files = { ...file.at("files").texts(), ...test.at("files").texts() };
  await using opened = await testWorld(test, { root: project.settings.root, folder: kept, files });
  const { world, folder } = opened;
  const requests: ModelRequest[] = [];
  const replies = test.at("model").items().map((reply) => reply.reply());
  const script = scriptModel(replies, { id: "script/test", clock: systemClock });
  const model = wrappedModel(script, (request) => {
    requests.push({ ...request, messages: [...request.messages] });
    return script.stream(request);
  });
  const pathOf = (named: string): string => pathFromFolder(resolve(folder, named), world.root);
  const document = test.at("document").text() ?? file.at("document").text() ?? "";
  const input = inputOf(test.at("input"), pathOf);
  try {
    const events = runTestedDocument({ path: pathOf(document), input, world, project, model });
    for await (const event of events) {
      if (event.type !== "run-end") continue;
      const { status, error, value, document: result } = event;
      return { exit: status === "done" ? 0 : 1, requests, error, value, result };
    }
  } catch (error) {
    if (!(error instanceof DocumentCheckError)) throw error;
    return { exit: 2, error: error.message, requests };
  }
  throw new Error("the run has no end");
}

function inputOf(input: TestField, pathOf: (named: string) => string): DocumentCommandInput {
  return {
    prompt: input.at("prompt").text(),
    values: input.at("values").texts(),
    blocks: input.at("blocks").items().flatMap((field) => {
      const named = maybeBlock(field.text() ?? "");
      return named === undefined ? [] : { ...named, file: pathOf(named.file) };
    }),
  };
}

function compared(
  { exit, error, value, result, requests }: Outcome,
  test: TestField,
): readonly TestFailure[] {
  const expect = test.at("expect");
  const wantedExit = expect.at("exit");
  const wantedError = expect.at("error");
  const code = wantedExit.number() ?? (wantedError.isThere ? exit : 0); // where there is no error, that is told of it
  const text = value === undefined ? undefined : resultText(value);
  const wantedValue = expect.at("value");
  const why = error === undefined ? "" : `: ${error}`;
  return [
    ...exit === code ? [] : (wantedExit.isThere ? wantedExit : test)
      .failure("exit", `exit is ${exit}, expected ${code}${why}`),
    ...wantedError.failures(error, "error"),
    ...wantedValue.value !== null
      ? wantedValue.failures(text, "value")
      : text === undefined
      ? []
      : wantedValue.failure("value", `there is a value, expected none: ${JSON.stringify(text)}`),
    ...expect.at("result").failures(result, "result"),
    ...blockFailures(result ?? "", expect.at("blocks")),
    ...requestFailures(requests, expect.at("messages")),
  ];
}

function blockFailures(result: string, blocks: TestField): readonly TestFailure[] {
  if (!blocks.isThere) return [];
  const live = new LiveDocument(parseDocument(result));
  return blocks.entries().flatMap(([reference, wanted]) => {
    const isThere = live.maybeFind(reference.replace(/\/\*$/, "")) !== undefined;
    const found = isThere ? nodeBodies(live.select([reference])).trim() : undefined;
    return wanted.failures(found, `block ${reference}`);
  });
}

function requestFailures(requests: readonly ModelRequest[], wanted: TestField): readonly TestFailure[] {
  if (!wanted.isThere) return [];
  const calls = wanted.items();
  if (calls.length !== requests.length) {
    const message = `the model was asked ${requests.length} times, expected ${calls.length}`;
    return wanted.failure("messages", message, { span: wanted.keySpan });
  }
  return calls.flatMap((call, index) =>
    call.messageFailures(requests[index]?.messages ?? [], {
      what: `model call ${index + 1}`,
      span: call.span,
    })
  );
}

// The world of a test: it reads the project, and nothing that it does reaches the project.

/** A world with the folder of the test in it. */
interface TestWorld extends AsyncDisposable {
  readonly world: DocumentWorld;
  /** The folder of the test's file, in this world: absolute. */
  readonly folder: string;
}

/** More of a project than a test is to copy. */
const MAX_FILES = 2000;

/**
 * Makes the world of a test. Files are written in memory and commands are scripted; where real commands may run, it is a copy of the
 * project in a temporary folder.
 *
 * @param folder of the test's file: absolute
 */
async function testWorld(
  test: TestField,
  { root: original, folder: kept, files: given }: {
    readonly root: string;
    readonly folder: string;
    readonly files: Readonly<Record<string, string>>;
  },
): Promise<TestWorld> {
  const commands = test.at("commands");
  const kinds = new Set(test.at("allow").items().map((kind) => kind.text()));
  const copy = kinds.has("run") && !commands.isThere ? await copyOf(original) : undefined;
  if (commands.isThere) kinds.add("run");
  const root = copy?.path ?? original;
  const folder = resolve(root, relative(original, kept));
  const placed = Object.entries(given).map(([path, text]) => [resolve(folder, path), text] as const);
  const disk = hostFiles({ root });
  if (copy !== undefined) { for (const [path, text] of placed) await disk.writeText(path, text); }
  return {
    world: {
      root,
      files: copy === undefined ? overlayFiles(disk, { root, files: Object.fromEntries(placed) }) : disk,
      policy: policyOf(kinds, root),
      shell: copy === undefined ? scriptedShell(commands.items()) : hostShell(),
    },
    folder,
    [Symbol.asyncDispose]: async () => await copy?.[Symbol.asyncDispose](),
  };
}

/** A copy of a project, without hidden files and those that are made or fetched. */
async function copyOf(root: string): ReturnType<typeof temporaryFolder> {
  const paths = (await walkFiles(root, { files: hostFiles({ root }), isWanted: () => true }))
    .map((path) => relative(root, path)).filter((path) =>
      !/(?:^|[/\\])(?:dist|coverage)(?:[/\\]|$)/.test(path)
    );
  if (paths.length > MAX_FILES) {
    throw new Error(
      `the project has more than ${MAX_FILES} files: too many to copy for a test with real commands; script them with commands`,
    );
  }
  const copy = await temporaryFolder();
  for (const path of paths) await copyFile(join(root, path), { folder: copy.path, path });
  return copy;
}

function policyOf(
  kinds: ReadonlySet<string | undefined>,
  root: string,
): NonNullable<DocumentWorld["policy"]> {
  const flags = [...kinds].map((kind) => ({
    name: `allow-${kind}`,
    value: kind === "write" ? root : true as const,
  }));
  return createPolicy(parsePolicyFlags(flags), { root, cwd: root, realPath });
}

/** Gives what the test says, each once, in order; the first unused one whose `when` fits. */
function scriptedShell(commands: readonly TestField[]): Shell {
  const left = new Set(commands);
  return {
    run(command, { args = [], onOutput }) {
      const script = args.at(-1) ?? command;
      const found = [...left].find((each) => new RegExp(each.at("when").text() ?? "", "u").test(script));
      if (found === undefined) {
        return Promise.reject(new Error(`the test has no command left for ${JSON.stringify(script)}`));
      }
      left.delete(found);
      const stdout = found.at("output").text() ?? "";
      if (stdout !== "") onOutput?.(stdout, "stdout");
      const exitCode = found.at("exit").number() ?? 0;
      return Promise.resolve({ exitCode, stdout, stderr: "", truncated: false, dropped: 0, stopped: false });
    },
  };
}

/** The JSON Schema of `*.document-test.yml`. */
export function schema(): JsonObject {
  return fileOf("Tests of executable documents", {
    document: said(text, "The document that is tested, relative to this file."),
    files: said(texts, "Files of all tests, over those of the project: path to text."),
  }, {
    test: mapping({
      name,
      document: said(text, "Another document than that of the file."),
      files: said(texts, "More files, over those of all tests."),
      input: {
        description: "What the document is given.",
        ...mapping({
          prompt: said(text, "As --prompt."),
          values: said(texts, "As --input: name to value."),
          blocks: list({ ...text, pattern: ".#." }, "As --block: notes.md#summary."),
        }),
      },
      model: list(ref("reply"), "What the model says, in order: replies as those of script/FILE."),
      commands: list(
        ref("command"),
        "What the commands of @shell give, in order, in place of running them.",
      ),
      allow: list(
        { enum: ["write", "run"] },
        "What the document may do. Real commands run in a copy of the project.",
      ),
      expect: said(ref("expect"), "What is to come of the document."),
    }, ["name", "expect"]),
    reply: mapping({
      ...reply,
      delayMs: said({ type: "integer", minimum: 0 }, "Milliseconds before each piece. Default 0."),
      when: said(pattern, "A regular expression: the last message must match."),
      repeat: said({ type: "boolean" }, "It is never used up. Default false."),
    }),
    command: mapping({
      when: said(pattern, "A regular expression: the script must match."),
      output: said(text, "What it prints."),
      exit: said({ type: "integer" }, "The exit code. Default 0."),
    }),
    expect: mapping({
      exit: said({ enum: [0, 1, 2] }, "Default 0, or anything else where an error is expected."),
      error: said(wanted, "What is told of the failure."),
      value: said({ anyOf: [wanted, { type: "null" }] }, "What the run gives; null: nothing."),
      result: said(wanted, "The whole result document."),
      blocks: {
        type: "object",
        additionalProperties: wanted,
        description: "By reference, without their heading lines.",
      },
      messages: list(
        list(mapping({ system: wanted, user: wanted, assistant: wanted, tool: wanted })),
        "Of each model call, in order: a list of ROLE: TEXT.",
      ),
    }),
  });
}
