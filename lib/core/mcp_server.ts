import { sha256 } from "./sha256.ts";
import type { Span } from "./source_error.ts";

/** How an MCP server is reached: a program on stdio, or a URL over HTTP. */
export type McpEndpoint =
  | {
    readonly kind: "stdio";
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }
  | { readonly kind: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** A configured MCP server. Only `written` is for people to see, and of it neither the values of `env` nor of `headers`. */
export interface McpServer {
  readonly name: string;
  /** What its gadgets' names begin with, before `__`. */
  readonly part: string;
  /** Where it is configured, as messages name it. */
  readonly file: string;
  /** As it stands in the file, `${VAR}` not replaced. */
  readonly written: McpEndpoint;
  /** With every `${VAR}` replaced: it may hold secrets. */
  readonly endpoint: McpEndpoint;
  /** The variables of our environment that it is given, sorted. */
  readonly variables: readonly string[];
}

/** A configured server that cannot be used, and why. */
export interface BrokenMcpServer {
  readonly name: string;
  readonly part: string;
  readonly file: string;
  /** With its place. */
  readonly problem: string;
  /** The same without it. */
  readonly wrong: string;
  readonly span: Span | undefined;
  /** A variable of the environment is missing: elsewhere it may be set. */
  readonly isOpen: boolean;
}

/** A server's name as the beginning of its gadgets' names: other characters become `_`. */
export function mcpNamePart(name: string): string {
  const part = name.replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  return /^[A-Za-z_]/.test(part) ? part : `_${part}`;
}

/** The longest name that clients and models take. */
const MAX_NAME = 64;
const SHORT_HASH = 8;

/**
 * Names of `[A-Za-z0-9_-]` that do not depend on any order: who wants such a name as it is has it; of others, whose characters become `_`, it
 * has who is alone in wanting it; all the rest get a part of the hash of what they are.
 *
 * @param wanted the wanted name of each, by what it is
 * @param taken what nobody can have
 */
export function mcpNames(
  wanted: ReadonlyMap<string, string>,
  taken: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, string> {
  const all = [...wanted].map(([what, name]) => ({ what, name, plain: mcpNamePart(name).slice(0, MAX_NAME) }))
    .sort((a, b) => a.what < b.what ? -1 : 1);
  const names = new Map<string, string>();
  const used = new Set(taken);
  for (const isExact of [true, false]) {
    const group = all.filter(({ name, plain }) => (name === plain) === isExact);
    const counts = Map.groupBy(group, ({ plain }) => plain);
    for (const { what, plain } of group) {
      if (counts.get(plain)?.length === 1 && !used.has(plain)) names.set(what, plain);
    }
    for (const plain of counts.keys()) used.add(plain);
  }
  for (const { what, plain } of all.filter((each) => !names.has(each.what))) {
    const hash = sha256(what);
    let name: string;
    let length = SHORT_HASH;
    do {
      name = `${plain.slice(0, MAX_NAME - 1 - length)}_${hash.slice(0, length)}`;
      length += SHORT_HASH;
    } while (used.has(name));
    names.set(what, name);
    used.add(name);
  }
  return names;
}

/** What the gadgets' names of each server begin with. */
export function mcpNameParts(servers: Iterable<string>): ReadonlyMap<string, string> {
  return mcpNames(new Map([...servers].map((name) => [name, name])));
}

/** A server of `mcpServers`: a program on stdio, or an address. `${NAME}` in a value of `env` or `headers` stands for a variable. */
export type McpServerSettings =
  | {
    readonly command: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };
