import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { User } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { stateFolder } from "../host/paths.ts";
import { hashOwnWord, isAccepted, readAccepted, writeAccepted } from "../policy/accepted.ts";
import type { OwnWord } from "../policy/accepted.ts";

/**
 * Whether what a project says for itself counts (gadgets.md 3): it was accepted before as it is now, `--trust-project` accepts
 * it, or the person at the terminal does. An acceptance is kept in the user's state folder.
 */
export async function acceptProject(
  parts: JsonObject,
  { root, isWanted, user, notice }: {
    readonly root: string;
    readonly isWanted: boolean;
    readonly user: User;
    readonly notice: (text: string) => void;
  },
): Promise<boolean> {
  const folder = stateFolder();
  const state = folder === undefined ? undefined : hostFiles({ root: folder, mode: 0o600 });
  const project = { root, sha256: hashOwnWord(ownWord(parts)) };
  if (state !== undefined && isAccepted(await readAccepted(state), project)) return true;
  if (!isWanted && !(user.canAnswer && await isAnsweredYes(parts, root, user))) return false;
  if (state === undefined) {
    notice(
      "The project is accepted for this run only: neither XDG_STATE_HOME nor HOME says where to keep it",
    );
  } else await writeAccepted(state, project);
  return true;
}

function ownWord(parts: JsonObject): OwnWord {
  const { grants, "gadgets.isolation": isolation, mcpServers, "models.providers": providers } = parts;
  const { ".mcp.json": mcpJson } = parts;
  return {
    ...(grants !== undefined && { grants }),
    ...(isolation !== undefined && { isolation }),
    ...(mcpServers !== undefined && { mcpServers }),
    ...(providers !== undefined && { providers }),
    ...(mcpJson !== undefined && { mcpJson }),
  };
}

async function isAnsweredYes(parts: JsonObject, root: string, user: User): Promise<boolean> {
  const words = Object.entries(parts).flatMap(([part, value]) => wordsOf(part, value));
  const question = `The project in ${root} asks for this:\n${
    words.map((line) => `  ${line}`).join("\n")
  }\nAccept it?`;
  return await user.ask(question, { choices: ["yes", "no"] }) === "yes";
}

function wordsOf(part: string, value: Json): string[] {
  if (typeof value !== "object" || value === null) return [`${part}: ${JSON.stringify(value)}`];
  return Object.entries(value).map(([name, item]) => {
    if (part === "grants" && item === "trusted") {
      return `load gadget ${name} and let it do what Orrery itself may do`;
    }
    if (part === "mcpServers" || part === ".mcp.json") return `${part}: ${name}: ${mcpServerWords(item)}`;
    if (part === "gadgets.isolation") return `run gadget ${name} inside Orrery's own process`;
    return `${part}: ${name}: ${JSON.stringify(item)}`;
  });
}

/** Of what a server is given only the names are shown: the values may be secret. Whether it may start is asked with its first start. */
function mcpServerWords(server: Json): string {
  if (!isJsonObject(server)) return JSON.stringify(server);
  const namesOf = (value: Json | undefined) =>
    value !== undefined && isJsonObject(value) ? Object.keys(value) : value;
  const { command, args, url, env, headers } = server;
  const shown = { command, args, url, env: namesOf(env), headers: namesOf(headers) };
  return `the MCP server ${JSON.stringify(shown)}`;
}
