// The servers that a user allowed for good. The list is beside that of accepted projects, outside every project.
import {
  type Files,
  isRecord,
  maybeText,
  parseStateList,
  type StateListForm,
  stateListText,
} from "../core/core.ts";
import type { ToolHashes } from "./server_words.ts";

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
const ALLOWED_SERVERS_FILE = "mcp_servers.json";

const FORM: StateListForm<AllowedServer> = {
  key: "servers",
  of: "allowed MCP servers",
  each: "server",
  needs: '"root", "name", "sha256" and "tools"',
  entry: (value) => isAllowedServer(value) ? value : undefined,
};

/** Reads the list; no file is an empty one. @throws {SourceError} that names the file when it is no such list */
export async function readAllowedServers(state: Files): Promise<readonly AllowedServer[]> {
  const file = await state.resolve(ALLOWED_SERVERS_FILE);
  const text = await maybeText(state, file);
  return text === undefined ? [] : parseStateList(text, { file, form: FORM });
}

/** Writes the server into the list, in the place of what was allowed under its name in that project. @throws as `readAllowedServers` */
export async function writeAllowedServer(state: Files, server: AllowedServer): Promise<void> {
  const others = (await readAllowedServers(state)).filter(({ root, name }) =>
    root !== server.root || name !== server.name
  );
  await state.writeText(ALLOWED_SERVERS_FILE, stateListText([...others, server], FORM));
}

/** Takes a server out of the list; gives whether it was there. @throws as `readAllowedServers` */
export async function removeAllowedServer(
  state: Files,
  { root, name }: Pick<AllowedServer, "root" | "name">,
): Promise<boolean> {
  const servers = await readAllowedServers(state);
  const others = servers.filter((each) => each.root !== root || each.name !== name);
  if (others.length === servers.length) return false;
  await state.writeText(ALLOWED_SERVERS_FILE, stateListText(others, FORM));
  return true;
}

function isAllowedServer(value: unknown): value is AllowedServer {
  return isRecord(value) &&
    [value.root, value.name, value.sha256].every((field) => typeof field === "string") &&
    isRecord(value.tools) && Object.values(value.tools).every((hash) => typeof hash === "string");
}
