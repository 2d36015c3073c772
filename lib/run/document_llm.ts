// @llm (documents.md 7, 8): everything that can be wrong is found before the model is called.

import { fileOutside } from "../check/file_words.ts";
import type { JsonObject } from "../core/json.ts";
import { alignHeadings } from "../document/align_headings.ts";
import { headingLine } from "../parse/heading_line.ts";
import { modelOfProvider, needsModel } from "../parse/model_of_provider.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { parseResult } from "../parse/parse_result.ts";
import { schemaOfText } from "../parse/schema_text.ts";
import { answerContract } from "./answer_contract.ts";
import type { ToolAnswer } from "./document_calls.ts";
import { limitsOf } from "./document_means.ts";
import { readMedia } from "./document_media.ts";
import { messagesOf } from "./document_messages.ts";
import {
  insertResult,
  noteSaved,
  pathOf,
  readFile,
  refuseNarrowed,
  resultNodes,
  targetOf,
} from "./document_operation.ts";
import type { Operation } from "./document_operation.ts";
import { documentTools } from "./document_tools.ts";
import type { RunCallee } from "./document_tools.ts";
import { DocumentTurn } from "./document_turn.ts";
import { performEffect } from "./effect.ts";
import { notedModel } from "./noted_model.ts";
import { OperationError } from "./operation_error.ts";
import { toolText } from "./tool_text.ts";
import { runTurn } from "./turn.ts";

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
  const model = await notedModel(run, {
    key: `${key}/model`,
    find: () => means.models.find(modelName(operation)),
  });
  const turn = new DocumentTurn({
    run,
    signal: run.signal,
    keyPrefix: `${key}/`,
    model,
    messages,
    tools,
    toolTurnsMax: fields.toolsTurnsMax ?? limitsOf(file, means).toolTurns,
    retries: fields.retries,
    contract: schema && answerContract(schema),
    temperature,
    stop: fields.stopSequences,
    keepsFailure: fields.onError === "continue" || means.keepsFailures === true,
    random: means.random,
    onTools: (answers, place) => insertToolBlocks(operation, { answers, place }),
  });
  const answer = await runTurn(turn, { run, budget: means.budget, place: `${key}/` });
  await saveAnswer(operation, answer);
  await insertAnswer(operation, answer);
  return answer;
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
