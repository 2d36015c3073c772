import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { LOCK_FILE } from "../core/gadget_lock.ts";
import { shownWord } from "../core/shown_word.ts";
import type { Files, Permissions, User } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { stateFolder } from "../host/paths.ts";
import { hashOwnWord, isAccepted, readAccepted, writeAccepted } from "../policy/accepted.ts";
import type { OwnWord } from "../policy/accepted.ts";
import { permissionsOf } from "../policy/permission_sets.ts";
import { permissionLines } from "../policy/permission_words.ts";

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
  const state = maybeState();
  const project = { root, sha256: hashOwnWord(ownWord(parts)) };
  if (state !== undefined && isAccepted(await readAccepted(state), project)) return true;
  if (!isWanted && !(user.canAnswer && await isAnsweredYes(parts, root, user))) return false;
  await keepAccepted(parts, { root, notice });
  return true;
}

/** Accepts what a project says for itself, for good where that can be kept. */
export async function keepAccepted(
  parts: JsonObject,
  { root, notice }: { readonly root: string; readonly notice: (text: string) => void },
): Promise<void> {
  const state = maybeState();
  if (state === undefined) {
    notice(
      "The project is accepted for this run only: neither XDG_STATE_HOME nor HOME says where to keep it",
    );
  } else await writeAccepted(state, { root, sha256: hashOwnWord(ownWord(parts)) });
}

function maybeState(): Files | undefined {
  const folder = stateFolder();
  return folder === undefined ? undefined : hostFiles({ root: folder, mode: 0o600 });
}

function ownWord(parts: JsonObject): OwnWord {
  const { grants, "gadgets.isolation": isolation, mcpServers, "models.providers": providers } = parts;
  const { ".mcp.json": mcpJson, [LOCK_FILE]: lock } = parts;
  return {
    ...(grants !== undefined && { grants }),
    ...(isolation !== undefined && { isolation }),
    ...(mcpServers !== undefined && { mcpServers }),
    ...(providers !== undefined && { providers }),
    ...(mcpJson !== undefined && { mcpJson }),
    ...(lock !== undefined && { lock }),
  };
}

async function isAnsweredYes(parts: JsonObject, root: string, user: User): Promise<boolean> {
  const words = Object.entries(parts).flatMap(([part, value]) => wordsOf(part, value, root));
  const question = `The project in ${root} asks for this:\n${
    words.map((line) => `  ${line}`).join("\n")
  }\nAccept it?`;
  return await user.ask(question, { choices: ["yes", "no"] }) === "yes";
}

function wordsOf(part: string, value: Json, root: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [`${part}: ${JSON.stringify(value)}`];
  if (part === LOCK_FILE) return lockWords(value, root);
  if (part === "grants") {
    return Object.entries(value).flatMap(([name, item]) => grantWords(shownWord(name), item, root));
  }
  return Object.entries(value).map(([name, item]) => {
    if (part === "mcpServers" || part === ".mcp.json") return `${part}: ${name}: ${mcpServerWords(item)}`;
    if (part === "gadgets.isolation") return `run gadget ${name} inside Orrery's own process`;
    return `${part}: ${name}: ${JSON.stringify(item)}`;
  });
}

/** What a gadget would be allowed. */
function grantWords(gadget: string, grant: Json, root: string): readonly string[] {
  if (grant === "trusted") return [`let gadget ${gadget} do all that it asks for`];
  return permissionLines(permissionsFrom(grant), { root }).map((line) => `let gadget ${gadget} ${line}`);
}

/** The parts were read before: what is not of their form would have been an error. */
function permissionsFrom(grant: Json | undefined): Permissions {
  const given = grant !== undefined && isJsonObject(grant) ? grant : {};
  return permissionsOf((kind) => {
    const value = given[kind];
    if (value === true) return true;
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
  });
}

function lockWords(lock: Json, root: string): readonly string[] {
  if (!isJsonObject(lock)) return [`${LOCK_FILE}: ${JSON.stringify(lock)}`];
  const named = (list: Json | undefined, words: (name: string, entry: JsonObject) => readonly string[]) =>
    (Array.isArray(list) ? list : []).flatMap((entry: Json) =>
      isJsonObject(entry) ? words(String(entry.name), entry) : []
    );
  return [
    ...named(
      lock.gadgets,
      (name, { file, permissions }) =>
        grantWords(`${shownWord(name)} (${shownWord(String(file))})`, permissions ?? {}, root),
    ),
    ...named(lock.mcpServers, (name, entry) => [`${LOCK_FILE}: ${name}: ${mcpServerWords(entry)}`]),
  ];
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
