import {
  type Files,
  isJsonObject,
  type Json,
  type JsonObject,
  LOCK_FILE,
  objectOrEmpty,
  type Permissions,
  shownWord,
  type User,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { sightOf, stateFolder } from "../../host/paths.ts";
import {
  type AcceptedProject,
  hashOwnWord,
  isAccepted,
  markOf,
  type OwnWord,
  readAccepted,
  writeAccepted,
} from "../../policy/accepted.ts";
import { permissionLines, permissionsOf } from "../../policy/permission_sets.ts";

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
  const accepted = state === undefined ? [] : await readAccepted(state);
  if (isAccepted(accepted, { root, sha256: hashOwnWord(ownWord(parts)) })) return true;
  const before = accepted.find((project) => project.root === root);
  if (!isWanted && !(user.canAnswer && await isAnsweredYes(parts, { root, before, user }))) return false;
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
    return;
  }
  const asked = linesOf(parts, root).map(({ mark }) => mark);
  await writeAccepted(state, { root, sha256: hashOwnWord(ownWord(parts)), asked });
}

function maybeState(): Files | undefined {
  const folder = stateFolder();
  return folder === undefined ? undefined : hostFiles({ root: folder, mode: 0o600 });
}

function ownWord(parts: JsonObject): OwnWord {
  const { grants, "gadgets.isolation": isolation, mcpServers, "models.providers": providers } = parts;
  const { ".mcp.json": mcpJson, [LOCK_FILE]: lock } = parts;
  return {
    grants,
    isolation,
    mcpServers,
    providers,
    mcpJson,
    lock,
  };
}

async function isAnsweredYes(
  parts: JsonObject,
  { root, before, user }: {
    readonly root: string;
    readonly before: AcceptedProject | undefined;
    readonly user: User;
  },
): Promise<boolean> {
  const question = `${askedFor(linesOf(parts, root), { root, before })}\nAccept it?`;
  return await user.ask(question, { choices: ["yes", "no"] }) === "yes";
}

/** What was not asked for when the project was accepted last has a `+`. */
function askedFor(
  lines: readonly Line[],
  { root, before }: { readonly root: string; readonly before: AcceptedProject | undefined },
): string {
  const known = before?.asked && new Set(before.asked);
  const isNew = ({ mark }: Line) => known?.has(mark) === false;
  const list = lines.map((line) => `\n${isNew(line) ? "+" : " "} ${line.text}`).join("");
  if (before === undefined) return `The project in ${root} asks for this:${list}`;
  const changed = `The project in ${root} has changed since you accepted it, and asks for this`;
  if (known === undefined) return `${changed}:${list}`;
  return lines.some(isNew)
    ? `${changed}; + is new:${list}`
    : `${changed}:${list}\nNothing of it is new; what else has changed asks for nothing.`;
}

/** One thing that a project asks for. */
interface Line {
  /** In words. */
  readonly text: string;
  readonly mark: string;
}

function linesOf(parts: JsonObject, root: string): readonly Line[] {
  return Object.entries(parts).flatMap(([part, value]) => wordsOf(part, value, root));
}

/** @param hidden what else the words stand for: where that is another one, they are new */
function linesFrom(texts: readonly string[], hidden: Json): readonly Line[] {
  return texts.map((text) => ({ text, mark: markOf(text, hidden) }));
}

function wordsOf(part: string, value: Json, root: string): readonly Line[] {
  if (typeof value !== "object" || value === null) {
    return linesFrom([`${part}: ${JSON.stringify(value)}`], value);
  }
  if (part === LOCK_FILE) return lockWords(value, root);
  return Object.entries(value).flatMap(([name, item]) =>
    part === "grants"
      ? linesFrom(grantWords(namedWords(name), item, root), null) // the words say all of it
      : linesFrom([itemWords(part, name, item)], item)
  );
}

function itemWords(part: string, name: string, item: Json): string {
  if (part === "mcpServers" || part === ".mcp.json") return `${part}: ${name}: ${mcpServerWords(item)}`;
  if (part === "gadgets.isolation") return `run gadget ${namedWords(name)} inside Orrery's own process`;
  return `${part}: ${name}: ${JSON.stringify(item)}`;
}

/** A name of the settings, with the file that it means. */
function namedWords(name: string): string {
  const [word = "", file = word] = name.split("\0");
  return file === word ? shownWord(word) : `${shownWord(word)} (${shownWord(file)})`;
}

/** What a gadget would be allowed. */
function grantWords(gadget: string, grant: Json, root: string): readonly string[] {
  if (grant === "trusted") return [`let gadget ${gadget} do all that it asks for`];
  return permissionLines(permissionsFrom(grant), { root, sightOf }).map((line) =>
    `let gadget ${gadget} ${line}`
  );
}

/** The parts were read before: what is not of their form would have been an error. */
function permissionsFrom(grant: Json | undefined): Permissions {
  const given = objectOrEmpty(grant);
  return permissionsOf((kind) => {
    const value = given[kind];
    if (value === true) return true;
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
  });
}

function lockWords(lock: Json, root: string): readonly Line[] {
  if (!isJsonObject(lock)) return linesFrom([`${LOCK_FILE}: ${JSON.stringify(lock)}`], lock);
  return [
    ...entriesOf(lock.gadgets).flatMap(([name, { permissions = {}, ...rest }]) =>
      linesFrom(grantWords(`${shownWord(name)} (${shownWord(String(rest.file))})`, permissions, root), rest)
    ),
    ...entriesOf(lock.mcpServers).flatMap(([name, entry]) =>
      linesFrom([`${LOCK_FILE}: ${name}: ${mcpServerWords(entry)}`], entry)
    ),
  ];
}

function entriesOf(list: Json | undefined): readonly (readonly [name: string, entry: JsonObject])[] {
  return (Array.isArray(list) ? list : []).flatMap((entry: Json) =>
    isJsonObject(entry) ? [[String(entry.name), entry] as const] : []
  );
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
