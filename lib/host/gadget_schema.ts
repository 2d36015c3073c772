// A schema of the gadget's, which only its own library understands (https://standardschema.dev).

import { apply, bare, getProperty, isArray, OwnTypeError, quote, toText } from "./gadget_primordials.ts";
import { jsonText } from "./gadget_json.ts";
import { thrownError } from "./gadget_thrown.ts";

/** What a gadget's schema says of a value. */
export interface OwnSchema {
  /** The JSON Schema that the library offers, as JSON. Absent where it has types that no JSON Schema can say, such as dates. */
  readonly offered: string | undefined;
  /** The value as the library made it, or what is wrong with it, a line each. */
  readonly validate: (value: unknown) => Promise<{ readonly value: unknown } | { readonly issues: string }>;
}

/** The Standard Schema that a value is; undefined for every other one. */
export function ownSchema(schema: unknown, side: "input" | "output"): OwnSchema | undefined {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  if (!("~standard" in schema)) return undefined;
  const standard = schema["~standard"];
  if (typeof standard !== "object" || standard === null || !("validate" in standard)) return undefined;
  const { validate } = standard;
  if (!isFunction(validate)) return undefined;
  return {
    offered: offeredText(standard, side),
    validate: (value) => checked(() => apply(validate, standard, [value])),
  };
}

function offeredText(standard: object, side: "input" | "output"): string | undefined {
  try {
    const offered = "jsonSchema" in standard ? standard.jsonSchema : undefined;
    const make: unknown = typeof offered === "object" && offered !== null
      ? getProperty(offered, side)
      : undefined;
    return isFunction(make) ? jsonText(apply(make, offered, [{ target: "draft-2020-12" }])) : undefined;
  } catch {
    return undefined;
  }
}

async function checked(
  validate: () => unknown,
): Promise<{ readonly value: unknown } | { readonly issues: string }> {
  try {
    const result = await validate();
    if (typeof result !== "object" || result === null) throw new OwnTypeError("it gave no result");
    const issues = "issues" in result ? result.issues : undefined;
    if (issues !== undefined) return bare({ issues: issuesText(issues) });
    return bare({ value: "value" in result ? result.value : undefined });
  } catch (error) {
    return bare({ issues: `The gadget's schema is broken: it threw ${quote(thrownError(error).message)}` });
  }
}

/** One issue a line, each behind its pointer (calls.md 7). */
function issuesText(issues: unknown): string {
  if (!isArray(issues)) return "The gadget's schema says that the input is wrong";
  let text = "";
  for (let at = 0; at < issues.length; at++) {
    const issue: unknown = issues[at];
    if (typeof issue !== "object" || issue === null) continue;
    const message = "message" in issue ? toText(issue.message) : "is wrong";
    const pointer = "path" in issue ? pointerOf(issue.path) : "";
    text += `${text === "" ? "" : "\n"}${pointer === "" ? "" : `${pointer}: `}${message}`;
  }
  return text === "" ? "The gadget's schema says that the input is wrong" : text;
}

const { replaceAll } = String.prototype;

/** A JSON pointer without its leading `/` (RFC 6901). */
function pointerOf(path: unknown): string {
  if (!isArray(path)) return "";
  let text = "";
  for (let at = 0; at < path.length; at++) {
    const part: unknown = path[at];
    const key = toText(typeof part === "object" && part !== null && "key" in part ? part.key : part);
    const encoded = apply(replaceAll, apply(replaceAll, key, ["~", "~0"]), ["/", "~1"]);
    text += `${at === 0 ? "" : "/"}${encoded}`;
  }
  return text;
}

function isFunction(value: unknown): value is (...input: readonly unknown[]) => unknown {
  return typeof value === "function";
}
