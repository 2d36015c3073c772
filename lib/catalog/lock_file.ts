// `orrery.lock`: JSON with one text for each content, so that two people who allow the same get the same file, and so that a hand that was in
// it is seen. Each entry has a sum of what it says; it keeps mistakes out, not enemies: against those the project has to be accepted, and what
// was accepted covers this file.
import {
  canonicalJson,
  isRecord,
  type Json,
  jsonProblem,
  type Lock,
  type LockedGadget,
  type LockedServer,
  type PermissionKind,
  type Permissions,
  sha256,
  SourceError,
  type Span,
  spanAt,
  toJson,
} from "../core/core.ts";
import { jsonPlace } from "./json_places.ts";

type Path = readonly (string | number)[];

type Read<Value> = (value: unknown, path: Path) => Value;

const VERSION = 1;
const KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];
const WHAT_TO_DO = "Take it back from your version control, or delete it:";
const ASKED_AGAIN = "what it allows is then asked about again.";
const SHA256 = /^[0-9a-f]{64}$/;

/** The text of a lock: sorted, an entry after the other, the same for the same content. */
export function lockText(lock: Lock): string {
  const gadgets = lock.gadgets.map(sortedGadget).sort((a, b) => byText(keyOf(a), keyOf(b)));
  const servers = lock.servers.map(sortedServer).sort((a, b) => byText(a.name, b.name));
  return `${
    JSON.stringify(
      { version: VERSION, gadgets: gadgets.map(summed), mcpServers: servers.map(summed) },
      null,
      2,
    )
  }\n`;
}

/**
 * Reads the text of a lock.
 *
 * @param file as messages name it
 * @throws {SourceError} with its place, when it is no lock, or not as Orrery wrote it
 */
export function parseLock(text: string, file: string): Lock {
  const value = parsed();
  if (!isRecord(value)) throw wrong([], "expected an object");
  if (value.version !== VERSION) throw version(value.version);
  onlyKeys(value, [], ["version", "gadgets", "mcpServers"]);
  const gadgets = listAt(value.gadgets, ["gadgets"], gadgetOf);
  const servers = listAt(value.mcpServers, ["mcpServers"], serverOf);
  checkOnce(gadgets.map(keyOf), "gadgets");
  checkOnce(servers.map(({ name }) => name), "mcpServers");
  const lock = { gadgets, servers };
  checkText(lock);
  return lock;

  /** Both sides of a merge were kept: which of the two counts is not for the reader to say. */
  function checkOnce(keys: readonly string[], list: string): void {
    const index = keys.findIndex((key, at) => keys.indexOf(key) !== at);
    if (index === -1) return;
    const name = (keys[index] ?? "").replace(/\0.*$/s, "");
    throw wrong([list, index], `it has two entries of ${JSON.stringify(name)}`, {
      hint: "Take out the one that is not as it is now, or both: it is then asked about again.",
    });
  }

  function version(found: unknown): SourceError {
    const isNewer = typeof found === "number" && found > VERSION;
    const wanted = `expected "version": ${VERSION}`;
    const hint = isNewer
      ? `A newer Orrery wrote it. Use that one, or delete the file: ${ASKED_AGAIN}`
      : `${WHAT_TO_DO} ${ASKED_AGAIN}`;
    if (found === undefined) return wrong([], `found no version, ${wanted}`, { hint });
    return wrong(["version"], `found version ${JSON.stringify(found)}, ${wanted}`, { hint });
  }

  function gadgetOf(value: unknown, path: Path): LockedGadget {
    const { entry, at } = entryOf(value, path, ["name", "file", "permissions", "modules", "links", "sum"]);
    const gadget = {
      name: at("name", word),
      file: at("file", word),
      permissions: at("permissions", permissions),
      modules: at("modules", hashes),
      ...(entry.links !== undefined && { links: at("links", mapOf("paths", word)) }),
    };
    checkSum(at("sum", hash), sortedGadget(gadget), { path, what: `gadget ${JSON.stringify(gadget.name)}` });
    return gadget;
  }

  function serverOf(value: unknown, path: Path): LockedServer {
    const { entry, at } = entryOf(value, path, ["name", "command", "url", "sha256", "tools", "sum"]);
    if ((entry.command === undefined) === (entry.url === undefined)) {
      throw wrong(path, "expected either command or url");
    }
    const server: LockedServer = {
      name: at("name", word),
      reached: entry.url === undefined ? { command: at("command", words) } : { url: at("url", word) },
      sha256: at("sha256", hash),
      tools: at("tools", hashes),
    };
    const what = `MCP server ${JSON.stringify(server.name)}`;
    checkSum(at("sum", hash), sortedServer(server), { path, what });
    return server;
  }

  /** An object with these keys at most, and what reads the value at one of them. */
  function entryOf(value: unknown, path: Path, keys: readonly string[]): {
    readonly entry: Readonly<Record<string, unknown>>;
    readonly at: <Value>(key: string, read: Read<Value>) => Value;
  } {
    if (!isRecord(value)) throw wrong(path, "expected an object");
    onlyKeys(value, path, keys);
    return { entry: value, at: (key, read) => read(value[key], [...path, key]) };
  }

  function onlyKeys(value: Readonly<Record<string, unknown>>, path: Path, keys: readonly string[]): void {
    const unknown = Object.keys(value).find((key) => !keys.includes(key));
    if (unknown === undefined) return;
    const expected = `found the key ${JSON.stringify(unknown)}, expected one of ${keys.join(", ")}`;
    throw wrong([...path, unknown], expected);
  }

  function listAt<Value>(value: unknown, path: Path, read: Read<Value>): readonly Value[] {
    if (!Array.isArray(value)) {
      throw wrong(value === undefined ? [] : path, `expected a list under ${JSON.stringify(path.at(-1))}`);
    }
    return value.map((each: unknown, index) => read(each, [...path, index]));
  }

  function words(value: unknown, path: Path): readonly string[] {
    return listAt(value, path, word);
  }

  function word(value: unknown, path: Path): string {
    if (typeof value === "string" && value !== "") return value;
    throw missing(value, path, "expected text that is not empty");
  }

  function hash(value: unknown, path: Path): string {
    if (typeof value === "string" && SHA256.test(value)) return value;
    throw missing(value, path, "expected a SHA-256: 64 hexadecimal digits");
  }

  function mapOf<Value>(what: string, read: Read<Value>): Read<Readonly<Record<string, Value>>> {
    return (value, path) => {
      if (!isRecord(value)) throw missing(value, path, `expected an object of ${what}`);
      return Object.fromEntries(
        Object.entries(value).map(([key, part]) => [key, read(part, [...path, key])]),
      );
    };
  }

  function hashes(value: unknown, path: Path): Readonly<Record<string, string>> {
    return mapOf("hashes", hash)(value, path);
  }

  function permissions(value: unknown, path: Path): Permissions {
    const granted = mapOf("permissions", (part, at) => part === true || words(part, at));
    onlyKeys(isRecord(value) ? value : {}, path, KINDS);
    return granted(value, path);
  }

  function checkSum(
    sum: string,
    content: object,
    { path, what }: { readonly path: Path; readonly what: string },
  ): void {
    if (sum === sumOf(content)) return;
    throw wrong(path, `what it says of ${what} was changed by hand: the sum is another one`);
  }

  /** What is as it should be in another order or form was not written by Orrery either. */
  function checkText(lock: Lock): void {
    const [found, wanted] = [text.replaceAll("\r\n", "\n"), lockText(lock)];
    if (found === wanted) return;
    let at = 0;
    while (at < found.length && found[at] === wanted[at]) at++;
    throw lockError("it is not as Orrery writes it from here on", spanAt(found, at, { file }));
  }

  function parsed(): Json {
    const conflict = /^(?:<{7}|={7}|>{7})(?: |\r?$)/m.exec(text);
    if (conflict !== null) throw unmerged(conflict.index);
    try {
      return toJson(JSON.parse(text));
    } catch (error) {
      const at = jsonProblem(text)?.start ?? 0;
      throw lockError("it is not JSON", spanAt(text, at, { file }), {
        cause: error,
      });
    }
  }

  /** Two entries that were joined by hand have a sum that fits neither, but two whole ones can stand side by side. */
  function unmerged(at: number): SourceError {
    return lockError("two versions of it were not merged", spanAt(text, at, { file }), {
      hint:
        "Keep the entries of one side, whole and in their order, or take one side's file; then allow what is missing again: " +
        "orrery trust allow NAME.",
    });
  }

  function missing(value: unknown, path: Path, expected: string): SourceError {
    if (value !== undefined) return wrong(path, expected);
    return wrong(path.slice(0, -1), `${expected} under ${JSON.stringify(path.at(-1))}`);
  }

  function wrong(path: Path, problem: string, more: { readonly hint?: string } = {}): SourceError {
    return lockError(problem, lockPlace(text, file, path), more);
  }

  function lockError(
    problem: string,
    span: Span | undefined,
    more: { readonly hint?: string; readonly cause?: unknown } = {},
  ): SourceError {
    const hint = `${WHAT_TO_DO} ${ASKED_AGAIN}`;
    return new SourceError(`Cannot believe ${file}: ${problem}`, {
      code: "E-lock",
      source: text,
      hint,
      span,
      ...more,
    });
  }
}

/** Where an entry stands, for errors that are found later. */
export function lockPlace(text: string, file: string, path: Path): Span | undefined {
  const place = jsonPlace(text, path);
  return place === undefined ? undefined : spanAt(text, place.start, { file });
}

function sortedGadget({ name, file, permissions, modules, links }: LockedGadget) {
  const sorted = { name, file, permissions: sortedPermissions(permissions), modules: sortedKeys(modules) };
  return links === undefined ? sorted : { ...sorted, links: sortedKeys(links) };
}

function sortedServer({ name, reached, sha256, tools }: LockedServer) {
  return { name, ...reached, sha256, tools: sortedKeys(tools) };
}

function sortedPermissions(permissions: Permissions): Permissions {
  return Object.fromEntries(KINDS.flatMap((kind) => {
    const granted = permissions[kind];
    if (granted === undefined) return [];
    return [[kind, granted === true ? true : [...new Set(granted)].sort(byText)]];
  }));
}

function sortedKeys(hashes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => byText(a, b)));
}

function summed(entry: object): object {
  return { ...entry, sum: sumOf(entry) };
}

function sumOf(entry: object): string {
  return sha256(canonicalJson(entry));
}

function keyOf({ name, file }: { readonly name: string; readonly file: string }): string {
  return `${name}\0${file}`;
}

/** By UTF-16 units: the same on every machine. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
