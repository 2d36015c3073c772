import {
  didYouMean,
  isJsonObject,
  type Json,
  type JsonObject,
  messageOf,
  ProblemsError,
  SourceError,
  toJson,
} from "../../core/core.ts";
import { printableNumber } from "../../parse/yaml/tree.ts";
import { parseYaml, type YamlDocument } from "../../parse/yaml/yaml.ts";
import { flagFile } from "./prompt_input.ts";

const KEYS = ["user", "module", "session", "user-config", "user-context-log"];

/**
 * Reads the file of `--context`: what preloaded slots come from (conversations.md 2.11), as YAML or JSON.
 *
 * @throws {FileError} that names the flag, {ProblemsError} for what is no such file
 */
export async function contextFile(file: string, { cwd }: { readonly cwd: string }): Promise<JsonObject> {
  const text = await flagFile(file, { flag: "--context", cwd });
  const document = await parseYaml(text, { file });
  const problem = (message: string, path: readonly string[] = []) => {
    const span = document.at(path, "key") ?? document.at([]) ?? { file, line: 1, column: 1 };
    return new SourceError(message, { span, source: text, code: "E-context" });
  };
  const context = jsonOf(document, problem);
  if (context === null || !isJsonObject(context)) {
    throw new ProblemsError([problem(`Expected a mapping with ${KEYS.join(", ")}`)]);
  }
  const unknown = Object.keys(context).filter((key) => !KEYS.includes(key));
  if (unknown.length === 0) return context;
  throw new ProblemsError(unknown.map((key) => {
    const hint = didYouMean(key, KEYS) || ` The keys here are ${KEYS.join(", ")}.`;
    return problem(`Unknown key ${JSON.stringify(key)}.${hint}`, [key]);
  }));
}

/** YAML has numbers that JSON has not. */
function jsonOf({ value, written }: YamlDocument, problem: (message: string) => SourceError): Json {
  try {
    return printable(toJson(value), written, []);
  } catch (error) {
    throw new ProblemsError([problem(messageOf(error))]);
  }
}

/** Templates print what is taken from here: a number of a mapping as it is written. */
function printable(value: Json, written: YamlDocument["written"], path: readonly string[]): Json {
  if (typeof value === "number") return printableNumber(value, written(path) ?? String(value));
  if (typeof value !== "object" || value === null || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, printable(part, written, [...path, key])]),
  );
}
