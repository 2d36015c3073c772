// `*.document-test.yml`: documents with what they are given, what a model says, and what is to come of it.

import type { Json } from "../core/json.ts";
import type { Span } from "../core/source_error.ts";
import { readReply } from "../models/script_reply.ts";
import type { ReplyProblem, ScriptReply } from "../models/script_reply.ts";
import type { TestSource } from "./file_test.ts";
import { TestFields } from "./test_fields.ts";
import type { FieldPath, TextWanted } from "./test_fields.ts";

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
  const fields = await TestFields.read(source);
  const file = fields.mapping(fields.value, [], FILE_KEYS);
  const document = fields.text(file.document, ["document"]);
  const files = fields.texts(file.files, ["files"]);
  const list = fields.list(file.tests, ["tests"]);
  if (list.length === 0) fields.problem(["tests"], "Expected tests: a list of tests with name and expect");
  const tests = list.map((each, index) => testOf(each, { fields, path: ["tests", index], document, files }));
  fields.throwProblems();
  return tests;
}

function testOf(
  value: Json,
  { fields, path, document, files }: {
    readonly fields: TestFields;
    readonly path: FieldPath;
    readonly document: string | undefined;
    readonly files: Readonly<Record<string, string>>;
  },
): DocumentTest {
  const test = fields.mapping(value, path, TEST_KEYS);
  const at = (key: string): FieldPath => [...path, key];
  const name = fields.text(test.name, at("name"));
  if (name === undefined) fields.problem(path, "Expected a name: what the test shows, in a few words");
  const own = fields.text(test.document, at("document")) ?? document;
  if (own === undefined) fields.problem(path, "Expected a document: the file that is tested");
  const input = fields.mapping(test.input, at("input"), INPUT_KEYS);
  const prompt = fields.text(input.prompt, [...at("input"), "prompt"]);
  return {
    name: name ?? "",
    span: fields.spanOf(path),
    document: own ?? "",
    files: { ...files, ...fields.texts(test.files, at("files")) },
    input: {
      ...(prompt === undefined ? {} : { prompt }),
      values: fields.texts(input.values, [...at("input"), "values"]),
      blocks: fields.list(input.blocks, [...at("input"), "blocks"])
        .map((block, index) => blockOf(block, { fields, path: [...at("input"), "blocks", index] })),
    },
    model: fields.list(test.model, at("model"))
      .map((reply, index) => replyOf(reply, { fields, path: [...at("model"), index] })),
    commands: test.commands === undefined ? undefined : fields.list(test.commands, at("commands"))
      .map((command, index) => commandOf(command, { fields, path: [...at("commands"), index] })),
    allow: fields.list(test.allow, at("allow"))
      .flatMap((kind, index) =>
        fields.choice(kind, [...at("allow"), index], ["write", "run"] as const) ?? []
      ),
    expect: expectationOf(test.expect, { fields, path: at("expect") }),
  };
}

interface Place {
  readonly fields: TestFields;
  readonly path: FieldPath;
}

function blockOf(value: Json, { fields, path }: Place): string {
  const text = fields.text(value, path) ?? "a#b";
  if (!/.#./.test(text)) fields.problem(path, "Expected FILE#REF, such as notes.md#summary");
  return text;
}

function replyOf(value: Json, { fields, path }: Place): ScriptReply {
  const found: ReplyProblem[] = [];
  const reply = readReply(value, found);
  for (const problem of found) {
    fields.problem([...path, ...problem.path], problem.message, problem.what);
  }
  return reply;
}

function commandOf(value: Json, { fields, path }: Place): ScriptedCommand {
  const command = fields.mapping(value, path, COMMAND_KEYS);
  const when = fields.pattern(command.when, [...path, "when"]);
  const { exit = 0 } = command;
  if (typeof exit !== "number") fields.problem([...path, "exit"], "Expected a whole number");
  return {
    output: fields.text(command.output, [...path, "output"]) ?? "",
    exit: Number(exit),
    ...(when === undefined ? {} : { when }),
  };
}

function expectationOf(value: Json | undefined, { fields, path }: Place): DocumentExpectation {
  if (value === undefined) fields.problem(path, "Expected expect: what is to come of the document");
  const expect = fields.mapping(value, path, EXPECT_KEYS);
  const at = (key: string): FieldPath => [...path, key];
  const code = fields.choice(expect.exit, at("exit"), [0, 1, 2] as const);
  const error = fields.wanted(expect.error, at("error"));
  const result = fields.wanted(expect.result, at("result"));
  const answer = expect.value === null
    ? { none: fields.spanOf(at("value")) }
    : fields.wanted(expect.value, at("value"));
  const blocks = Object.entries(fields.mapping(expect.blocks, at("blocks"))).flatMap(([reference, each]) => {
    const wanted = fields.wanted(each, [...at("blocks"), reference]);
    return wanted === undefined ? [] : [{ reference, wanted }];
  });
  return {
    blocks,
    ...(code === undefined ? {} : { exit: { code, span: fields.spanOf(at("exit")) } }),
    ...(error === undefined ? {} : { error }),
    ...(answer === undefined ? {} : { value: answer }),
    ...(result === undefined ? {} : { result }),
    ...(expect.messages === undefined ? {} : {
      messages: {
        span: fields.spanOf(at("messages"), "key"),
        calls: fields.list(expect.messages, at("messages")).map((call, index) => ({
          span: fields.spanOf([...at("messages"), index]),
          messages: fields.list(call, [...at("messages"), index]).flatMap((message, n) =>
            messageOf(message, { fields, path: [...at("messages"), index, n] })
          ),
        })),
      },
    }),
  };
}

/** `user: TEXT`. */
function messageOf(value: Json, { fields, path }: Place): readonly WantedMessage[] {
  return Object.entries(fields.mapping(value, path, ROLES)).flatMap(([role, each]) => {
    const wanted = fields.wanted(each, [...path, role]);
    return wanted === undefined ? [] : [{ role, wanted }];
  });
}
