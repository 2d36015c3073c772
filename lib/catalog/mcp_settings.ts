import { isText, isTexts } from "../parse/check_fields.ts";
import { isRecord } from "../core/json.ts";
import { didYouMean, nearestName } from "../core/nearest.ts";
import type { McpServerSettings } from "../core/mcp_settings.ts";

/** What is wrong with a server as it was written, and where in it. */
export interface WrongServer {
  readonly wrong: string;
  readonly path: readonly (string | number)[];
}

/**
 * Reads one server of the common form: `{command, args?, env?}` or `{url, headers?}`, with an optional `type`; other keys belong to other
 * programs. Undefined for one that is marked as disabled.
 */
export function serverSettings(value: unknown): McpServerSettings | WrongServer | undefined {
  if (!isRecord(value)) return wrong([], "expected an object with command or url");
  if (value.disabled === true) return undefined;
  const { type, command, args, env, url, headers } = value;
  const misspelt = misspeltKey(value, ["type", "command", "args", "env", "url", "headers", "disabled"]);
  if (misspelt !== undefined) return misspelt;
  if (type === "sse") {
    return wrong(["type"], `found the type "sse", expected "http": the older transport is not supported`);
  }
  if (type !== undefined && !TYPES.some((known) => known === type)) {
    return wrong(["type"], `found an unknown type, expected "stdio" or "http"`);
  }
  if ((command === undefined) === (url === undefined)) {
    return wrong(
      [],
      `found ${command === undefined ? "neither" : "both"} command and url, expected one of them`,
    );
  }
  return command === undefined ? httpSettings({ url, headers }) : stdioSettings({ command, args, env });
}

/** A key that is likely meant as another one, which is not there; other keys belong to other programs. */
export function misspeltKey(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
): WrongServer | undefined {
  const missing = known.filter((key) => !Object.hasOwn(value, key));
  const key = Object.keys(value).find((each) =>
    !known.includes(each) && nearestName(each, missing) !== undefined
  );
  if (key === undefined) return undefined;
  return { wrong: `unknown key ${JSON.stringify(key)}.${didYouMean(key, missing)}`, path: [key] };
}

const TYPES = ["stdio", "http", "streamable-http", "streamableHttp"];

function httpSettings({ url, headers }: Fields): McpServerSettings | WrongServer {
  if (!isText(url)) return wrong(["url"], "expected text");
  if (headers !== undefined && !isTextMap(headers)) return wrongMap("headers", headers);
  return { url, headers };
}

function stdioSettings({ command, args, env }: Fields): McpServerSettings | WrongServer {
  if (!isText(command)) return wrong(["command"], "expected text: the program alone, its arguments in args");
  if (args !== undefined && !isTexts(args)) return wrong(["args"], "expected a list of texts");
  if (env !== undefined && !isTextMap(env)) return wrongMap("env", env);
  return { command, args, env };
}

type Fields = { readonly [key: string]: unknown };

function wrongMap(key: string, value: unknown): WrongServer {
  const entry = isRecord(value)
    ? Object.entries(value).find(([, item]) => typeof item !== "string")
    : undefined;
  return wrong(
    entry === undefined ? [key] : [key, entry[0]],
    `expected ${entry === undefined ? "names and " : ""}text`,
  );
}

function wrong(path: readonly (string | number)[], text: string): WrongServer {
  return { wrong: `${path.length === 0 ? "" : `${path.join(".")}: `}${text}`, path };
}

function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((item) => typeof item === "string");
}
