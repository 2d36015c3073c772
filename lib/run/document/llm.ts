// @llm (documents.md 7, 8): everything that can be wrong is found before the model is called.
import { basename } from "node:path";
import { fileOutside } from "../../check/source_files.ts";
import {
  type AnyGadget,
  type ContainerGadget,
  type ContentPart,
  isJsonObject,
  type Json,
  type JsonObject,
  maybeJsonObject,
  mediaFrom,
  mediaTypeOf,
  type Message,
  messageOf,
  ModelError,
  objectOrEmpty,
  shownFile,
  toJson,
} from "../../core/core.ts";
import { alignHeadings } from "../../document/pieces.ts";
import { type LiveNode, nodeText, nodeTexts } from "../../document/live_node.ts";
import { parseResult } from "../../parse/document/document.ts";
import { headingLine } from "../../parse/document/lines.ts";
import { modelOfProvider, needsModel, noMedia, schemaOfText } from "../../parse/document/llm.ts";
import { didYouMean } from "../../parse/document/near.ts";
import type { LlmFields } from "../../parse/document/operation.ts";
import { CALLEE_TOOL } from "../../parse/document/parameters.ts";
import { answerContract } from "../turn/answer_contract.ts";
import { CallError } from "../calls/step.ts";
import { fileValue, meansOfCall, wantedFile } from "./file_calls.ts";
import type { ContainerCall } from "../calls/container.ts";
import { type DocumentTools, runDocumentCalls, type ToolAnswer } from "./calls.ts";
import { limitsOf } from "./means.ts";
import {
  insertResult,
  noteSaved,
  type Operation,
  pathOf,
  readFile,
  refuseNarrowed,
  resultNodes,
  targetOf,
} from "./operation.ts";
import type { DocumentEnd } from "./run_file.ts";
import { fileFailure } from "./files.ts";
import { performEffect, takeIn } from "../effect.ts";
import { notedModel } from "../turn/noted_model.ts";
import { OperationError } from "./failure.ts";
import { toolSpecOf } from "../turn/offered.ts";
import { askForAnswer, DOCUMENT_POLICY } from "../turn/turn.ts";
import { whyBad } from "../turn/model_answer.ts";

const HEADER = "LLM response block";

/** Asks the model, merges what tools gave and the answer, and gives the text of the answer. */
export async function performLlmOperation(
  operation: Operation<LlmFields>,
  runCallee: RunCallee,
): Promise<string> {
  const { run, means, fields, file, key } = operation;
  targetOf(operation);
  const media = await readMedia(operation);
  const messages = messagesOf(operation, media);
  const schema = await schemaOf(operation);
  const tools = await documentTools(operation, runCallee);
  const temperature = fields.temperature ?? file.settings.temperature ?? means.defaults.temperature;
  const effort = fields.effort ?? file.settings.effort;
  const model = await notedModel(run, {
    key: `${key}/model`,
    find: () => means.models.find(modelName(operation)),
  });
  const contract = schema && answerContract(schema);
  const stop = fields.stopSequences;
  const answer = await askForAnswer<string>({
    run,
    budget: means.budget,
    keyPrefix: `${key}/`,
    policy: {
      ...DOCUMENT_POLICY,
      rounds: fields.toolsTurnsMax ?? limitsOf(file, means).toolTurns,
      contractRetries: fields.retries,
      transportRetries: fields.retries,
    },
    model,
    messages,
    tools: tools.specs,
    about: {
      stop: [...stop],
      temperature: temperature ?? null,
      ...(effort && { effort }),
      ...(schema && { schema }),
    },
    request: { temperature, effort, ...(stop.length > 0 && { stop }) },
    form: { schema },
    keepsFailure: fields.onError === "continue" || means.keepsFailures === true,
    random: means.random,
    placeOf: (n) => `${key}/turn[${n}]/`,
    async call(calls, place) {
      const answers = await runDocumentCalls(calls, { run, signal: run.signal, tools, keyPrefix: place });
      insertToolBlocks(operation, { answers, place });
      return answers.map(({ id, name, text }): Message => ({ role: "tool", id, name, content: text }));
    },
    read(text, answer) {
      if (text.trim() === "") throw new OperationError(whyBad("the model gave an empty answer", answer));
      const checked = contract?.check(text) ?? { text };
      return "text" in checked ? { value: checked.text } : checked;
    },
    misfit: (why, attempts) =>
      new OperationError(
        `the answer does not match the schema after ${attempts} ${
          attempts === 1 ? "attempt" : "attempts"
        }: ${why}`,
      ),
    givenUp,
  });
  await saveAnswer(operation, answer);
  await insertAnswer(operation, answer);
  return answer;
}

function givenUp(error: ModelError, attempts: number): Error {
  if (error.code === "permission" || error.code === "config") return error;
  const after = attempts === 1 ? "" : ` after ${attempts} attempts`;
  return new ModelError(`model call failed${after}: ${error.message}`, { ...error, cause: error });
}

/** `provider` and `model` together, or the nearest word on the model (documents.md 7.6, 3). */
function modelName({ fields, means, file }: Operation<LlmFields>): string | undefined {
  const { provider, model = means.flags.model ?? file.settings.model } = fields;
  if (provider === undefined) return model;
  if (fields.model === undefined) throw new OperationError(needsModel(provider));
  return modelOfProvider(fields.model, provider);
}

async function schemaOf(operation: Operation<LlmFields>): Promise<JsonObject | undefined> {
  const { schema } = operation.fields;
  if (typeof schema !== "string") return schema;
  const text = await readFile(operation, schema);
  const found = schemaOfText(text, schema);
  if ("problem" in found) throw new OperationError(found.problem);
  return found.value;
}

/** The raw answer, before it is merged (documents.md 7.9). */
async function saveAnswer(operation: Operation<LlmFields>, answer: string): Promise<void> {
  const { run, means, fields, key } = operation;
  if (fields.saveToFile === undefined) return;
  const path = pathOf(operation, fields.saveToFile);
  refuseNarrowed(operation, { kind: "write", path, named: fields.saveToFile });
  noteSaved(operation, path);
  await performEffect(run, {
    key: `${key}/save`,
    kind: "write",
    name: path,
    input: { text: answer },
    isIdempotent: true,
    perform: async () => {
      if (!await means.maySave(path)) throw notSaved(fields.saveToFile ?? "");
      await means.files.writeText(path, answer);
      return null;
    },
  });
}

function notSaved(named: string): OperationError {
  return new OperationError(fileOutside(named, { kind: "write", flag: `--allow-write=${named}` }));
}

async function insertAnswer(operation: Operation<LlmFields>, answer: string): Promise<void> {
  const { fields, live, node } = operation;
  const level = live.sectionLevel(node) + 1;
  const nodes = await resultNodes(operation, answer);
  const { useHeader = `${fields.isHeaderAligned ? "#".repeat(level) : "#"} ${HEADER}` } = fields;
  insertResult(operation, {
    nodes: fields.isHeaderAligned ? alignHeadings(nodes, level) : nodes,
    header: useHeader,
    by: "llm",
  });
}

/** Right after the operation, whatever its `mode` and `to` say (documents.md 8.4). */
function insertToolBlocks(
  operation: Operation<LlmFields>,
  { answers, place }: { readonly answers: readonly ToolAnswer[]; readonly place: string },
): void {
  const { live } = operation;
  for (const { id, name, result } of answers) {
    const text = result === undefined ? undefined : toolText(result);
    if (text === undefined) continue;
    const { nodes } = parseResult(text, { newline: live.newline, operations: false });
    const hasHeading = nodes[0]?.kind === "heading";
    insertResult(operation, {
      nodes,
      header: hasHeading ? undefined : headerOf(name),
      by: "tool",
      mode: "append",
      to: null,
      key: `${place}call:${id}`,
    });
  }
}

/** The name of a tool is a model's or a server's word: what is no heading line with it is none without it either. */
function headerOf(name: string): string {
  const header = `# ${name} tool response block`;
  return headingLine(header) === undefined ? "# tool response block" : header;
}

/** In the order in which they count (documents.md 8.4). */
const TEXT_FIELDS = ["return_content", "content", "output", "result", "response"];

/** The text of a tool's result that becomes a block; undefined: none does. */
function toolText(result: Json): string | undefined {
  const value = typeof result === "string" ? maybeJsonObject(result) ?? result : result;
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (!isJsonObject(value)) return JSON.stringify(value, null, 2);
  if (!isEmpty(value.error)) return undefined;
  const found = TEXT_FIELDS.map((name) => value[name]).find((field) => !isEmpty(field));
  if (found === undefined) return undefined;
  return typeof found === "string" ? found : joinedParts(found) ?? JSON.stringify(found, null, 2);
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "") ||
    (Array.isArray(value) && value.length === 0);
}

/** The texts of a list of `{type: text}` parts; undefined for anything else. */
function joinedParts(value: Json): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts: string[] = [];
  for (const part of value) {
    if (!isJsonObject(part) || typeof part.text !== "string") return undefined;
    texts.push(part.text);
  }
  return texts.join("\n");
}

/** The media of an @llm. @throws {OperationError}, {FileError} */
async function readMedia(operation: Operation<LlmFields>): Promise<readonly ContentPart[]> {
  const { run, means, key, fields } = operation;
  const parts: ContentPart[] = [];
  for (const [index, named] of fields.media.entries()) {
    const path = pathOf(operation, named);
    if (mediaTypeOf(path) === undefined) throw new OperationError(noMedia(named));
    refuseNarrowed(operation, { kind: "read", path, named });
    const read = await takeIn(run, {
      key: `${key}/media[${index + 1}]`,
      kind: "read",
      name: path,
      perform: async () => {
        const bytes = await means.files.readBytes(path, { signal: run.signal })
          .catch((error) => Promise.reject(fileFailure(error, named)));
        return toJson(mediaOf(bytes, named, basename(path)));
      },
    });
    const [kept] = mediaFrom([read]);
    const { data = "" } = objectOrEmpty(read);
    parts.push(kept ?? mediaOf(Uint8Array.fromBase64(String(data)), named)); // once only its bytes were kept
  }
  return parts;
}

/** @throws {OperationError} for what is none */
function mediaOf(bytes: Uint8Array, named: string, name?: string): ContentPart {
  const shown = shownFile(bytes, { name });
  if ("problem" in shown) throw new OperationError(`media "${named}" ${shown.problem}`);
  if (shown.part.type === "text") throw new OperationError(noMedia(named));
  return shown.part;
}

const DEFAULT_SYSTEM = "You are a helpful assistant. Answer in Markdown unless asked otherwise.";

/** What an @llm sends (documents.md 7.2 to 7.4). @throws {BlockReferenceError} */
function messagesOf(
  operation: Operation<LlmFields>,
  media: readonly ContentPart[],
): readonly Message[] {
  const { live, node, fields, means, run } = operation;
  const hasOperations = means.showsOperations;
  const context = live.contextAbove(node, { hasOperations });
  const system = nodeTexts(context.system);
  const blocks = fields.blocks === undefined
    ? fields.isAmbient ? context.ambient.map(ambientMessage) : []
    : live.select(fields.blocks, { hasOperations }).map(userMessage);
  const messages: readonly Message[] = [
    { role: "system", content: system === "" ? DEFAULT_SYSTEM : system },
    ...blocks,
    ...(fields.prompt === undefined ? [] : [{ role: "user", content: fields.prompt.trimEnd() } as const]),
  ];
  return withMedia(messages.map((message) => run.mask(message)), media);
}

/** An answer of a model above is one; everything else is material. */
function ambientMessage(node: LiveNode): Message {
  return { role: node.origin.by === "llm" ? "assistant" : "user", content: nodeText(node) };
}

function userMessage(node: LiveNode): Message {
  return { role: "user", content: nodeText(node) };
}

/** The media are parts of the last user message. */
function withMedia(messages: readonly Message[], media: readonly ContentPart[]): readonly Message[] {
  if (media.length === 0) return messages;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const message = messages[last];
  if (message?.role !== "user") return [...messages, { role: "user", content: media }];
  const text = typeof message.content === "string"
    ? [{ type: "text", text: message.content } as const]
    : message.content;
  return messages.with(last, { role: "user", content: [...text, ...media] });
}

/** Runs a document for a call of a tool. @throws what keeps it from being run */
type RunCallee = (
  operation: Operation,
  wanted: {
    readonly file: string;
    readonly prompt?: string;
    readonly blocks: readonly string[];
    readonly inputs?: Readonly<Record<string, string>>;
    /** Before the keys of its steps. */
    readonly keyPrefix: string;
  },
) => Promise<DocumentEnd>;

const calleeTool: ContainerGadget = {
  name: CALLEE_TOOL,
  description: "Runs another Markdown document of the project and returns what it returns.",
  contains: "callee",
  input: {
    type: "object",
    properties: {
      file: { type: "string", description: "The document, relative to the one that calls." },
      file_path: { type: "string", description: "The same as file." },
      prompt: {
        type: "string",
        description: "What the document is asked: it is put before its first block.",
      },
      block: {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        description: "References to blocks of the calling document that are put before its first block.",
      },
      block_uri: {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        description: "The same as block.",
      },
    },
  },
  run() {
    throw new Error(`${CALLEE_TOOL} is done by the document that offers it`);
  },
};

/** What an @llm offers its model (documents.md 8.1). @throws {OperationError} for a tool that is unknown */
async function documentTools(
  operation: Operation<LlmFields>,
  runCallee: RunCallee,
): Promise<DocumentTools> {
  const { fields, file, means } = operation;
  const choice = fields.tools ?? file.settings.tools ?? "none";
  const gadgets = new Map<string, AnyGadget>();
  for (const name of choice === "none" ? [] : choice === "all" ? await allNames(operation) : choice) {
    gadgets.set(name, await find(name, operation));
  }
  return {
    gadgets,
    specs: [...gadgets.values()].map(toolSpecOf),
    limits: means.calls,
    containers: {
      callee: (call) => callee(call, { operation, runCallee }),
      document: (call) => calledFile(call, { operation, runCallee }),
      // What prompts may do is not known to be within what front matter allows.
      ...(operation.narrowing.limits.length > 0 && { prompt: noPrompts }),
    },
  };
}

function noPrompts(): Promise<Json> {
  return Promise.reject(
    new CallError(
      "RunPrompt cannot run here: the front matter narrows what this document may do",
      "unavailable",
    ),
  );
}

/** `RunFile` in a document: as in any other run, so that its path is relative to the project root. @throws what the call is to fail with */
async function calledFile(
  { parameters, keyPrefix }: ContainerCall,
  { operation, runCallee }: { readonly operation: Operation; readonly runCallee: RunCallee },
): Promise<Json> {
  const wanted = wantedFile(parameters);
  const caller = { ...operation, from: "", means: meansOfCall(operation.means) };
  return fileValue(await runCallee(caller, { ...wanted, blocks: [], keyPrefix }));
}

async function allNames({ means }: Operation): Promise<readonly string[]> {
  return [...await means.tools.names(), CALLEE_TOOL];
}

async function find(name: string, { means }: Operation): Promise<AnyGadget> {
  if (name === CALLEE_TOOL) return calleeTool;
  const gadget = await means.tools.find(name);
  if (gadget !== undefined) return gadget;
  throw new OperationError(
    `unknown tool "${name}"${didYouMean(name, [...await means.tools.names(), CALLEE_TOOL])}`,
  );
}

/** A document that fails does not stop the one that calls. */
async function callee(
  { parameters, keyPrefix, run }: ContainerCall,
  { operation, runCallee }: { readonly operation: Operation; readonly runCallee: RunCallee },
): Promise<Json> {
  const { file = parameters.file_path, prompt, block = parameters.block_uri } = parameters;
  try {
    if (typeof file !== "string" || file === "") throw new Error("file is missing: name the document to run");
    const { returned } = await runCallee(operation, {
      file,
      keyPrefix,
      blocks: block === undefined ? [] : [block].flat().map(String),
      ...(typeof prompt === "string" && { prompt }),
    });
    return toJson({
      status: "success",
      explicit_return: returned?.isReturned ?? false,
      return_content: returned?.text ?? "",
      return_nodes_attribution: (returned?.blocks ?? []).map(({ source, id }) => ({ source, node_id: id })),
    });
  } catch (error) {
    if (run.signal.aborted) throw error;
    return { status: "failed", error: run.mask(messageOf(error)) };
  }
}
