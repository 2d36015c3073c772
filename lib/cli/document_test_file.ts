// `*.document-test.yml`: documents with what they are given, what a model says, and what is to come of it.

import type { Span } from "../core/source_error.ts";
import { readReply } from "../models/script_reply.ts";
import type { ScriptReply } from "../models/script_reply.ts";
import type { TestSource } from "./file_test.ts";
import { TestField } from "./test_field.ts";
import type { TextWanted } from "./test_field.ts";

/** A test of a document. Paths are relative to the folder of its file. */
export interface DocumentTest {
  readonly name: string;
  readonly span: Span;
  readonly document: string;
  /** Over those of the project. */
  readonly files: Readonly<Record<string, string>>;
  readonly input: {
    readonly prompt?: string;
    readonly values: Readonly<Record<string, string>>;
    readonly blocks: readonly string[];
  };
  /** What the model says, in order. */
  readonly model: readonly ScriptReply[];
  /** What commands give, in place of real ones. */
  readonly commands: readonly ScriptedCommand[] | undefined;
  readonly allow: readonly ("write" | "run")[];
  readonly expect: DocumentExpectation;
}

/** A command of `@shell` that is not run. */
export interface ScriptedCommand {
  /** The script must match. Default: any script. */
  readonly when?: RegExp;
  readonly output: string;
  readonly exit: number;
}

/** What is to come of a document; what is absent is not looked at. */
export interface DocumentExpectation {
  /** Default: 0, or anything else where an error is expected. */
  readonly exit?: { readonly code: number; readonly span: Span };
  readonly error?: TextWanted;
  /** null: no value. */
  readonly value?: TextWanted | { readonly none: Span };
  /** The whole result document. */
  readonly result?: TextWanted;
  /** By reference; without their heading lines. */
  readonly blocks: readonly { readonly reference: string; readonly wanted: TextWanted }[];
  /** Of each model call, in order. */
  readonly messages?: {
    readonly span: Span;
    readonly calls: readonly { readonly span: Span; readonly messages: readonly WantedMessage[] }[];
  };
}

/** A message that a model is to be sent. */
export interface WantedMessage {
  readonly role: string;
  readonly wanted: TextWanted;
}

const FILE_KEYS = ["document", "files", "tests"];
const TEST_KEYS = ["name", "document", "files", "input", "model", "commands", "allow", "expect"];
const INPUT_KEYS = ["prompt", "values", "blocks"];
const COMMAND_KEYS = ["when", "output", "exit"];
const EXPECT_KEYS = ["exit", "error", "value", "result", "blocks", "messages"];
const ROLES = ["system", "user", "assistant", "tool"];

/** Reads all tests of a file. @throws {ProblemsError} with everything that is wrong with it, by file, line and column */
export async function readDocumentTests(source: TestSource): Promise<readonly DocumentTest[]> {
  const file = (await TestField.read(source)).withKeys(FILE_KEYS);
  const document = file.at("document").text();
  const files = file.at("files").texts();
  const list = file.at("tests").items();
  if (list.length === 0) file.at("tests").problem("Expected tests: a list of tests with name and expect");
  const tests = list.map((each) => testOf(each, { document, files }));
  file.throwProblems();
  return tests;
}

function testOf(
  field: TestField,
  { document, files }: { readonly document: string | undefined; readonly files: DocumentTest["files"] },
): DocumentTest {
  const test = field.withKeys(TEST_KEYS);
  const name = test.at("name").text();
  if (name === undefined) test.problem("Expected a name: what the test shows, in a few words");
  const own = test.at("document").text() ?? document;
  if (own === undefined) test.problem("Expected a document: the file that is tested");
  const input = test.at("input").withKeys(INPUT_KEYS);
  const prompt = input.at("prompt").text();
  const commands = test.at("commands");
  return {
    name: name ?? "",
    span: test.span,
    document: own ?? "",
    files: { ...files, ...test.at("files").texts() },
    input: {
      prompt,
      values: input.at("values").texts(),
      blocks: input.at("blocks").items().map(blockOf),
    },
    model: test.at("model").items().map((reply) => reply.reply(readReply)),
    commands: commands.isThere ? commands.items().map(commandOf) : undefined,
    allow: test.at("allow").items().flatMap((kind) => kind.choice(["write", "run"] as const) ?? []),
    expect: expectationOf(test.at("expect")),
  };
}

function blockOf(field: TestField): string {
  const text = field.text() ?? "a#b";
  if (!/.#./.test(text)) field.problem("Expected FILE#REF, such as notes.md#summary");
  return text;
}

function commandOf(field: TestField): ScriptedCommand {
  const command = field.withKeys(COMMAND_KEYS);
  const when = command.at("when").pattern();
  const { value: exit = 0 } = command.at("exit");
  if (typeof exit !== "number") command.at("exit").problem("Expected a whole number");
  return { output: command.at("output").text() ?? "", exit: Number(exit), when };
}

function expectationOf(field: TestField): DocumentExpectation {
  if (!field.isThere) field.problem("Expected expect: what is to come of the document");
  const expect = field.withKeys(EXPECT_KEYS);
  const [exit, answer, messages] = [expect.at("exit"), expect.at("value"), expect.at("messages")];
  const code = exit.choice([0, 1, 2] as const);
  const error = expect.at("error").wanted();
  const result = expect.at("result").wanted();
  const value = answer.value === null ? { none: answer.span } : answer.wanted();
  return {
    blocks: expect.at("blocks").entries().flatMap(([reference, each]) => {
      const wanted = each.wanted();
      return wanted === undefined ? [] : [{ reference, wanted }];
    }),
    ...(code !== undefined && { exit: { code, span: exit.span } }),
    error,
    value,
    result,
    ...(messages.isThere && {
      messages: {
        span: messages.keySpan,
        calls: messages.items().map((call) => ({ span: call.span, messages: call.messages(ROLES) })),
      },
    }),
  };
}
