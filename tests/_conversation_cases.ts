// The valid cases of conversations, and what each of them says of its run.
import { parse } from "yaml";
import type { Json, JsonObject, ProgramFetch } from "../mod.ts";

const FOLDER = new URL("spec/conversations/valid/", import.meta.url);

/** What the comment at the top of a case says. */
export interface ConversationCase {
  readonly name: string;
  readonly text: string;
  readonly sentence: string;
  readonly user: readonly string[];
  readonly model: JsonObject;
  readonly http: JsonObject;
  readonly context: JsonObject;
  readonly slotsBefore: JsonObject;
  readonly slotsAfter: JsonObject;
  readonly sawPrompts: JsonObject;
  readonly sawMemory: JsonObject;
  readonly max?: number;
  readonly expect: readonly string[];
}

const KNOWN = [
  "user",
  "model",
  "http",
  "context",
  "slots-before",
  "slots-after",
  "saw-prompts",
  "saw-memory",
  "max",
];

/** Reads them all. */
export async function conversationCases(): Promise<readonly ConversationCase[]> {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".yml"))
    .sort();
  return await Promise.all(
    names.map(async (name) => conversationCase(name, await Deno.readTextFile(new URL(name, FOLDER)))),
  );
}

function conversationCase(name: string, text: string): ConversationCase {
  const lines = text.split("\n");
  const comment = lines.slice(0, lines.findIndex((line) => !line.startsWith("#"))).map((line) =>
    line.slice(2)
  );
  const [sentence = "", ...rest] = comment;
  const at = rest.indexOf("expect:");
  const keys: Record<string, Json> = {};
  for (const line of rest.slice(0, at)) {
    const [, key = "", value = ""] = /^([a-z-]+): (.*)$/.exec(line) ?? [];
    if (!KNOWN.includes(key)) throw new Error(`${name}: unknown key ${JSON.stringify(line)}`);
    keys[key] = parse(value, { version: "1.2" });
  }
  const object = (key: string): JsonObject => {
    const value = keys[key] ?? {};
    return isJsonObject(value) ? value : {};
  };
  return {
    name,
    text,
    sentence,
    user: Array.isArray(keys.user) ? keys.user.map(String) : [],
    model: object("model"),
    http: object("http"),
    context: object("context"),
    slotsBefore: object("slots-before"),
    slotsAfter: object("slots-after"),
    sawPrompts: object("saw-prompts"),
    sawMemory: object("saw-memory"),
    ...(typeof keys.max === "number" && { max: keys.max }),
    expect: rest.slice(at + 1).map((line) => line.trim()),
  };
}

function isJsonObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The network of a case. */
export function fetchOf({ http }: Pick<ConversationCase, "http">): ProgramFetch {
  return (input, init) => {
    const key = `${init?.method ?? "GET"} ${String(input)}`;
    const answer = http[key];
    if (answer === undefined || !isJsonObject(answer)) {
      return Promise.reject(new TypeError(`no answer for ${key}`));
    }
    const { status, body, type, events } = answer;
    const list: readonly Json[] = Array.isArray(events) ? events : [];
    const text = list.length > 0
      ? list.map((data) => `data: ${String(data)}\n\n`).join("")
      : body === undefined
      ? ""
      : JSON.stringify(body);
    const headers = { "content-type": typeof type === "string" ? type : "application/json" };
    return Promise.resolve(new Response(text, { status: Number(status), headers }));
  };
}
