import { isRecord } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import { shown } from "../schema/issue.ts";

/** The tags that an answer has, or has to have (prompts.md 3). Names are taken literally. */
export interface TagSpec<
  X extends string,
  Q extends string,
  M extends string,
  N extends string,
  S extends string,
> {
  /** Elements `<t>…</t>`, extracted where they are. */
  readonly xmlTags?: readonly X[];
  /** Elements without which an answer is refused. */
  readonly requiredXmlTags?: readonly Q[];
  /** Code blocks by the word behind their opening fence, extracted where they are. */
  readonly mdTags?: readonly M[];
  /** Code blocks without which an answer is refused. */
  readonly requiredMdTags?: readonly N[];
  /** `<t>` alone: is it there? */
  readonly signalTags?: readonly S[];
}

/** What an answer has of the tags of a `TagSpec`: a key for each of them, with an empty list where there is none. */
export interface TagResult<
  X extends string,
  Q extends string,
  M extends string,
  N extends string,
  S extends string,
> {
  /** The answer as it came. */
  raw: string;
  /** The text inside each element, as it is. */
  xmlTags: { [K in X | Q]: K extends Q ? [string, ...string[]] : string[] };
  /** The text of each block, trimmed. */
  mdTags: { [K in M | N]: K extends N ? [string, ...string[]] : string[] };
  signalTags: { [K in S]: boolean };
}

/** A checked `TagSpec`: every list is there, each name in it once, and the required tags are declared, too. */
export interface TagLists {
  readonly xmlTags: readonly string[];
  readonly requiredXmlTags: readonly string[];
  readonly mdTags: readonly string[];
  readonly requiredMdTags: readonly string[];
  readonly signalTags: readonly string[];
}

/**
 * Reads a `TagSpec` that came from anywhere, a file included.
 *
 * @throws {PromptError} `define` for a key or a name that is none.
 */
export function tagLists(spec: unknown): TagLists {
  if (!isRecord(spec)) {
    throw defineError(`expected an object such as { requiredXmlTags: ["answer"] }, found ${shown(spec)}`);
  }
  const unknown = Object.keys(spec).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw defineError(`unknown key ${JSON.stringify(unknown)}`);
  const [xml, requiredXml, md, requiredMd, signals] = [...KEYS].map((key) => namesOf(spec[key], key));
  return Object.freeze({
    xmlTags: unique(xml, requiredXml),
    requiredXmlTags: unique(requiredXml),
    mdTags: unique(md, requiredMd),
    requiredMdTags: unique(requiredMd),
    signalTags: unique(signals),
  });
}

const KEYS: ReadonlySet<string> = new Set([
  "xmlTags",
  "requiredXmlTags",
  "mdTags",
  "requiredMdTags",
  "signalTags",
]);

const TAG_NAME = /^(?!\/)[^\s<>`]+$/;

function namesOf(list: unknown, key: string): readonly string[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw defineError(`${key} must be a list of tag names, found ${shown(list)}`);
  return list.map((name: unknown) => {
    if (typeof name === "string" && TAG_NAME.test(name)) return name;
    throw defineError(
      `bad tag name ${typeof name === "string" ? JSON.stringify(name) : shown(name)} in ${key}`,
    );
  });
}

function unique(first: readonly string[] = [], second: readonly string[] = []): readonly string[] {
  return first.length + second.length === 0 ? NO_NAMES : Object.freeze([...new Set([...first, ...second])]);
}

const NO_NAMES: readonly string[] = Object.freeze([]);

function defineError(message: string): PromptError {
  return new PromptError(`tags: ${message}`, { code: "define" });
}
