import { slotKey } from "../conversation/slots.ts";
import type { StepOutcome } from "../conversation/step_outcome.ts";
import type { Passage } from "../core/collection.ts";
import { isRecord } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { PermissionRefused } from "../core/world.ts";
import type { StepOf } from "../parse/agent_file.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { StepWork } from "./conversation_work.ts";
import { EffectError, performEffect } from "./effect.ts";

type RetrieverWork = StepWork<StepOf<"retriever">>;

/**
 * Looks in the collection for what a slot asks, a text or a list of texts, and puts the passages that fit into another (conversations.md
 * 2.8). What fails is tried once more.
 *
 * @throws {ConversationStepError} for a slot without a question, without a collection, and for one that cannot be searched
 */
export async function performRetriever(work: RetrieverWork): Promise<StepOutcome> {
  const found = await foundBy(work, queriesOf(work));
  work.setSlot(work.step.target, sourcesText(found));
  return { kind: "next" };
}

function queriesOf({ step, slot }: RetrieverWork): readonly string[] {
  const asked = slot(step.query) ?? [];
  const queries = Array.isArray(asked) ? asked.map(queryText) : [queryText(asked)];
  const name = JSON.stringify(slotKey(step.query));
  if (queries.includes(undefined)) {
    throw new ConversationStepError(step.id, `query slot ${name} must hold text or a list of texts`);
  }
  const filled = queries.flatMap((query) => query === undefined || query.trim() === "" ? [] : [query]);
  if (filled.length === 0) throw new ConversationStepError(step.id, `query slot ${name} is empty`);
  return filled;
}

/** Undefined for what is no text and cannot be taken as one. */
function queryText(value: Json): string | undefined {
  if (value === null) return "";
  return typeof value === "object" ? undefined : String(value);
}

/** A run that is replayed needs no collection. */
async function foundBy(work: RetrieverWork, queries: readonly string[]): Promise<Json> {
  const { run, key, step: { id, limit, secondary }, signal } = work;
  const search = () => passagesFor(work, queries);
  try {
    return await performEffect(run, {
      key: `${key}/retrieve`,
      kind: "read",
      name: "collection",
      input: { queries, limit, secondary },
      isIdempotent: true,
      perform: () => search().catch((error) => isLasting(error, signal) ? Promise.reject(error) : search()),
    });
  } catch (error) {
    if (!(error instanceof EffectError) || signal.aborted) throw error;
    throw new ConversationStepError(id, error.message, { cause: error });
  }
}

async function passagesFor(
  { means, step, signal }: RetrieverWork,
  queries: readonly string[],
): Promise<Json> {
  const { limit, secondary } = step;
  const { collection } = means;
  if (collection === undefined) throw new Error("no document collection is configured");
  const found: Passage[] = [];
  for (const query of queries) found.push(...await collection.search(query, { limit, secondary, signal }));
  return found.map(({ name, link, document, text, score }) => ({
    name,
    document,
    text,
    score,
    ...(link === undefined ? {} : { link }),
  }));
}

/** It will not pass. */
function isLasting(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof PermissionRefused;
}

/** What several questions have found is said once. */
function sourcesText(found: Json): string {
  const texts = Array.isArray(found) ? found.flatMap(sourceText) : [];
  return [...new Map(texts).values()].join("\n\n");
}

function sourceText(passage: Json): readonly (readonly [string, string])[] {
  if (!isRecord(passage)) return [];
  const text = String(passage.text);
  return [[text, `**Source: ${passage.name}**\n${text}`]];
}
