// Slots that are filled before the first step of a conversation (conversations.md 2.11).
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { AgentFile, SlotSource, SourceSelection } from "../parse/agent/agent.ts";
import { parseJsonPath } from "../schema/json_path.ts";

/**
 * The slots that the file asks for, out of `{user, module, session, "user-config", "user-context-log"}`; what is not there, or null, is not
 * set.
 *
 * @throws {Error} for a module or session that is named and not there: `slots[0]: there is no module "x"`
 */
export function preloadSlots({ preloads }: Pick<AgentFile, "preloads">, context: Json): JsonObject {
  const data = isJsonObject(context) ? context : {};
  const found = preloads.map(({ name, source }, index) => [name, sourceValue(source, data, index)] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => value === undefined || value === null ? [] : [[name, value]]),
  );
}

function sourceValue(source: SlotSource, context: JsonObject, index: number): Json | undefined {
  switch (source.kind) {
    case "user":
      return at(context.user, source.path);
    case "module":
      return at(moduleOf(source.module, context, index), source.path);
    case "session":
      return at(sessionOf(source, context, index), source.path);
    case "user-config":
      return at(field(context["user-config"], source.key), source.path);
    case "user-context-log": {
      const entries = field(context["user-context-log"], source.key);
      const list: readonly Json[] = Array.isArray(entries) ? entries : [];
      return at(source.filter === "latest" ? list.at(-1) : list[0], source.path);
    }
    default:
      return source satisfies never;
  }
}

function moduleOf(selection: SourceSelection, { module }: JsonObject, index: number): Json | undefined {
  if ("selector" in selection || field(module, "id") === selection.from) return module;
  throw new Error(`slots[${index}]: there is no module "${selection.from}"`);
}

function sessionOf(
  { session, module }: Extract<SlotSource, { readonly kind: "session" }>,
  context: JsonObject,
  index: number,
): Json | undefined {
  const sessions = field(moduleOf(module, context, index), "sessions");
  if ("selector" in session || field(context.session, "id") === session.from) return context.session;
  const all: readonly Json[] = Array.isArray(sessions) ? sessions : [];
  const found = all.find((one) => field(one, "id") === session.from);
  if (found === undefined) throw new Error(`slots[${index}]: there is no session "${session.from}"`);
  return found;
}

/** A field, or what a JSONPath selects: several values as a list. */
function at(data: Json | undefined, path: string): Json | undefined {
  if (!path.startsWith("$")) return field(data, path);
  const parsed = parseJsonPath(path);
  if (data === undefined || "problem" in parsed) return undefined;
  const found = parsed.ok.select(data);
  return found.length > 1 ? found : found[0];
}

function field(data: Json | undefined, name: string): Json | undefined {
  return data !== undefined && isJsonObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
}
