// The servers that a user allowed for good. The list is beside that of accepted projects, outside every project.
import { messageOf, SourceError } from "../core/source_error.ts";
import { FileError, type Files } from "../core/world.ts";
import type { ToolHashes } from "./server_hash.ts";

/** A server that may be used as it was when it was allowed. */
export interface AllowedServer {
  /** The project it was allowed in: the same command is another program in another folder. */
  readonly root: string;
  readonly name: string;
  /** Of what it is. */
  readonly sha256: string;
  readonly tools: ToolHashes;
}

/** The name of the list in the state folder. */
export const ALLOWED_SERVERS_FILE = "mcp_servers.json";

/** Reads the list; no file is an empty one. @throws {SourceError} that names the file when it is no such list */
export async function readAllowedServers(state: Files): Promise<readonly AllowedServer[]> {
  const file = await state.resolve(ALLOWED_SERVERS_FILE);
  try {
    return parseList(await state.readText(file), file);
  } catch (error) {
    if (error instanceof FileError && error.code === "not-found") return [];
    throw error;
  }
}

/** Writes the server into the list, in the place of what was allowed under its name in that project. @throws as `readAllowedServers` */
export async function writeAllowedServer(state: Files, server: AllowedServer): Promise<void> {
  const others = (await readAllowedServers(state)).filter(({ root, name }) =>
    root !== server.root || name !== server.name
  );
  const list = { version: 1, servers: [...others, server] };
  await state.writeText(ALLOWED_SERVERS_FILE, `${JSON.stringify(list, null, 2)}\n`);
}

function parseList(text: string, file: string): readonly AllowedServer[] {
  const list = parseJson(text, file);
  if (!isRecord(list) || list.version !== 1 || !Array.isArray(list.servers)) {
    throw broken(file, `expected {"version": 1, "servers": [...]}`);
  }
  return list.servers.map((server: unknown, index) => {
    if (isAllowedServer(server)) return server;
    throw broken(file, `entry ${index + 1} of "servers" must have "root", "name", "sha256" and "tools"`);
  });
}

function isAllowedServer(value: unknown): value is AllowedServer {
  return isRecord(value) &&
    [value.root, value.name, value.sha256].every((field) => typeof field === "string") &&
    isRecord(value.tools) && Object.values(value.tools).every((hash) => typeof hash === "string");
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(file, `it is not JSON: ${messageOf(error)}`);
  }
}

function broken(file: string, reason: string): SourceError {
  return new SourceError(`Cannot read the list of allowed MCP servers ${JSON.stringify(file)}: ${reason}`, {
    hint: "Mend the file, or delete it: you are then asked about each server again.",
    code: "E-accepted",
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
