// MCP servers as files configure them: `mcpServers` of orrery.yaml, and .mcp.json in the form that other programs share. What
// is wrong with one server makes that server broken, not the project: the file may be meant for another program.
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { McpServerSettings } from "../core/mcp_settings.ts";
import { join } from "node:path";
import { messageOf, SourceError, type Span } from "../core/source_error.ts";
import { jsonProblem } from "../core/json_fault.ts";
import { spanAt } from "../core/span_at.ts";
import { FileError, type Files } from "../core/world.ts";
import { parseYaml } from "../parse/yaml.ts";
import { jsonPlace } from "./json_places.ts";
import { misspeltKey, serverSettings, type WrongServer } from "./mcp_settings.ts";
import { shownPath } from "./shown_path.ts";

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
  const text = await maybeText(path, disk);
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
      const text = await maybeText(path, disk).catch(() => undefined); // changed or gone since: then without its place
      if (text === undefined) return undefined;
      const document = await parseYaml(text, { file }).catch(() => undefined);
      return document?.at(["mcpServers", ...inside]);
    },
  };
}

async function maybeText(path: string, disk: Files): Promise<string | undefined> {
  try {
    return await disk.readText(path);
  } catch (error) {
    if (error instanceof FileError && (error.code === "not-found" || error.code === "not-folder")) {
      return undefined;
    }
    throw error;
  }
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
