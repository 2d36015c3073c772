// What is around a conversation of a test. A file of tests, a test and a conversation may each say it: the nearest counts.

import type { Json } from "../core/json.ts";
import { resolve } from "../core/path.ts";
import { readContext } from "./conversation_test_context.ts";
import type { TestField } from "./test_field.ts";
import { readAnswers } from "./conversation_test_answers.ts";
import type { RequestAnswers } from "./conversation_test_answers.ts";

/** What is around a conversation. */
export interface ConversationSettings {
  /** Read with the conversation: a file of tests may name one and have none of it. */
  readonly agent?: TestField;
  readonly user?: string;
  readonly module?: string;
  readonly session?: string;
  /** What preloaded slots come from. */
  readonly context: Json;
  /** A `*.collection.yml`, absolute. Default: that of the project. */
  readonly collection?: string;
  /** In place of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly requests: readonly RequestAnswers[];
  /** Steps that are made without waiting for the person. */
  readonly maxSteps?: number;
}

/** Where nothing is said. */
export const NO_SETTINGS: ConversationSettings = { context: {}, env: {}, requests: [] };

/** The keys of settings. */
export const SETTING_KEYS = [
  "agent",
  "user",
  "module",
  "session",
  "context",
  "collection",
  "env",
  "http",
  "steps",
] as const;

/** The settings of a mapping, in those around it. @param options `folder` that paths are relative to: absolute */
export async function readSettings(
  field: TestField,
  { around, folder }: { readonly around: ConversationSettings; readonly folder: string },
): Promise<ConversationSettings> {
  const [user, module, session] = SCOPE.map((key) => field.at(key).text());
  const maxSteps = field.at("steps").wholeNumber({ from: 1 });
  const collection = field.at("collection").text();
  const own = readAnswers(field.at("http"));
  const inherited = around.requests.filter(({ request }) => !own.some((each) => each.request === request));
  return {
    ...around,
    ...(field.at("agent").isThere && { agent: field.at("agent") }),
    ...(user !== undefined && { user }),
    ...(module !== undefined && { module }),
    ...(session !== undefined && { session }),
    ...(field.at("context").isThere && { context: await readContext(field.at("context"), folder) }),
    ...(collection !== undefined && { collection: resolve(folder, collection) }),
    ...(maxSteps !== undefined && { maxSteps }),
    env: { ...around.env, ...field.at("env").texts() },
    requests: [...inherited.map((each) => ({ ...each, isShared: true })), ...own],
  };
}

const SCOPE = ["user", "module", "session"];
