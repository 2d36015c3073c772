import { isRecord } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import type { FieldPath } from "../parse/front_matter.ts";
import { shown } from "../schema/issue.ts";
import { type Refuse, throwFirst } from "./prompt_problem.ts";

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

/** Reads a `TagSpec` that came from anywhere, a file included. */
export function tagLists(spec: unknown, refuse: Refuse = throwFirst): TagLists {
  const wrong = (at: FieldPath, message: string) =>
    refuse(["tags", ...at], new PromptError(`tags: ${message}`, { code: "define" }));
  if (!isRecord(spec)) {
    wrong([], `expected an object such as { requiredXmlTags: ["answer"] }, found ${shown(spec)}`);
    return tagLists({});
  }
  for (const key of Object.keys(spec)) {
    if (!KEYS.includes(key)) wrong([key], `unknown key ${JSON.stringify(key)}`);
  }
  const [xml, requiredXml, md, requiredMd, signals] = KEYS.map((key) => {
    const { [key]: list = [] } = spec;
    if (!Array.isArray(list)) wrong([key], `${key} must be a list of tag names, found ${shown(list)}`);
    const names: readonly unknown[] = Array.isArray(list) ? list : [];
    return names.filter((name, index): name is string => {
      const isFine = typeof name === "string" && TAG_NAME.test(name);
      const found = typeof name === "string" ? JSON.stringify(name) : shown(name);
      if (!isFine) wrong([key, index], `bad tag name ${found} in ${key}`);
      return isFine;
    });
  });
  return Object.freeze({
    xmlTags: unique(xml, requiredXml),
    requiredXmlTags: unique(requiredXml),
    mdTags: unique(md, requiredMd),
    requiredMdTags: unique(requiredMd),
    signalTags: unique(signals),
  });
}

const KEYS: readonly string[] = ["xmlTags", "requiredXmlTags", "mdTags", "requiredMdTags", "signalTags"];

const TAG_NAME = /^(?!\/)[^\s<>`]+$/;

function unique(first: readonly string[] = [], second: readonly string[] = []): readonly string[] {
  return Object.freeze([...new Set([...first, ...second])]);
}
