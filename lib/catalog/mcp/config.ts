// MCP servers as files configure them: `mcpServers` of orrery.yaml, and .mcp.json in the form that other programs share. What
// is wrong with one server makes that server broken, not the project: the file may be meant for another program.
import { join } from "node:path";
import {
  didYouMean,
  type Files,
  isJsonObject,
  isRecord,
  type Json,
  type JsonObject,
  jsonProblem,
  maybeText,
  type McpServerSettings,
  messageOf,
  nearestName,
  shownPath,
  SourceError,
  type Span,
  spanAt,
} from "../../core/core.ts";
import { isText, isTexts } from "../../parse/yaml/check_fields.ts";
import { parseYaml } from "../../parse/yaml/yaml.ts";
import { jsonPlace } from "../json_places.ts";

type Path = readonly (string | number)[];

/** The servers that one file configures. */
export interface McpFile {
  /** As messages name it. */
  readonly file: string;
  readonly servers: Readonly<Record<string, McpServerSettings | WrongServer>>;
  /** The place of what is at a path below `mcpServers`, for messages. */
  place(path: Path): Promise<Span | undefined>;
}

/** The servers of a `.mcp.json`, and what has to be accepted of it. */
export interface McpJson extends McpFile {
  readonly words: JsonObject;
}

interface ReadOptions {
  readonly disk: Files;
  /** The folder that files are named relative to. */
  readonly cwd: string;
}

/**
 * Reads the `.mcp.json` of a project root; undefined when there is none, or no server in it.
 *
 * @throws {SourceError} with its place, when it is not JSON or not of that form
 */
export async function readMcpJson(root: string, { disk, cwd }: ReadOptions): Promise<McpJson | undefined> {
  const path = join(root, ".mcp.json");
  const file = shownPath(path, cwd);
  const text = await maybeText(disk, path);
  if (text === undefined) return undefined;
  const value = parsed(text, file);
  const wrongKey = isJsonObject(value) ? misspeltKey(value, ["mcpServers"]) : undefined;
  const words = isJsonObject(value) ? value.mcpServers ?? {} : null;
  if (wrongKey !== undefined || words === null || !isJsonObject(words)) {
    const span = placeOf({ text, file }, wrongKey?.path ?? (isJsonObject(value) ? ["mcpServers"] : []));
    const wrong = wrongKey?.wrong ?? 'expected an object {"mcpServers": {NAME: {...}}}';
    throw new SourceError(`Cannot read ${file}: ${wrong}`, {
      code: "E-config",
      source: text,
      span,
    });
  }
  if (Object.keys(words).length === 0) return undefined;
  return {
    file,
    words,
    servers: Object.fromEntries(
      Object.entries(words).flatMap(([name, server]) => {
        const settings = serverSettings(server);
        return settings === undefined ? [] : [[name, settings]];
      }),
    ),
    place: (path) => Promise.resolve(placeOf({ text, file }, ["mcpServers", ...path])),
  };
}

/** The servers of an `orrery.yaml` or `config.yaml`, as they were read; the file is looked at again where a place is wanted. */
export function yamlServers(
  path: string,
  servers: Readonly<Record<string, McpServerSettings>>,
  { disk, cwd }: ReadOptions,
): McpFile {
  const file = shownPath(path, cwd);
  return {
    file,
    servers,
    async place(inside) {
      const text = await maybeText(disk, path).catch(() => undefined); // changed or gone since: then without its place
      if (text === undefined) return undefined;
      const document = await parseYaml(text, { file }).catch(() => undefined);
      return document?.at(["mcpServers", ...inside]);
    },
  };
}

function parsed(text: string, file: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = messageOf(error);
    const span = spanAt(text, jsonProblem(text)?.start ?? 0, { file });
    throw new SourceError(`Cannot read ${file}: it is not JSON`, {
      code: "E-config",
      source: text,
      span,
      hint: message.replace(/ in JSON at position.*$/s, "").replace(/ at position.*$/s, "")
        .replace(/, (?:"|\.\.\.).* is not valid JSON$/s, "") + ".",
      cause: error,
    });
  }
}

function placeOf(
  { text, file }: { readonly text: string; readonly file: string },
  path: Path,
): Span | undefined {
  const place = jsonPlace(text, path);
  return place === undefined
    ? undefined
    : spanAt(text, place.start, { file, length: place.end - place.start });
}

/** What is wrong with a server as it was written, and where in it. */
export interface WrongServer {
  readonly wrong: string;
  readonly path: readonly (string | number)[];
}

/**
 * Reads one server of the common form: `{command, args?, env?}` or `{url, headers?}`, with an optional `type`; other keys belong to other
 * programs. Undefined for one that is marked as disabled.
 */
function serverSettings(value: unknown): McpServerSettings | WrongServer | undefined {
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
function misspeltKey(
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
