import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { formatContract } from "../prompt/format_contract.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import { type TagLists, TagParser } from "../prompt/tags.ts";

/** What the answer to a prompt has to be, as far as it can be told without running anything. */
export type PromptAnswer =
  | { readonly kind: "text" }
  | {
    readonly kind: "tags";
    readonly tags: TagLists;
    /** A parser of its module goes on with what the tags hold. */
    readonly refined: boolean;
  }
  | { readonly kind: "parser"; readonly describe?: unknown }
  /** Without a schema: the Standard Schema of its module has no form as a JSON Schema. */
  | { readonly kind: "json"; readonly schema?: JsonSchema };

/** The contract of a prompt (prompts.md 3). */
export function promptAnswer({ parser, format }: Pick<AnyPrompt, "parser" | "format">): PromptAnswer {
  if (format !== null) {
    const { schema } = formatContract(format);
    return { kind: "json", schema };
  }
  if (parser === null) return { kind: "text" };
  const described = parser.describe?.();
  if (isTagLists(described)) {
    const isPlain = parser instanceof TagParser && parser.constructor === TagParser;
    return { kind: "tags", tags: described, refined: !isPlain };
  }
  if (isRecord(described) && isTagLists(described.refine)) {
    return { kind: "tags", tags: described.refine, refined: true };
  }
  return { kind: "parser", describe: described };
}

const LISTS = ["xmlTags", "requiredXmlTags", "mdTags", "requiredMdTags", "signalTags"] as const;

function isTagLists(value: unknown): value is TagLists {
  return isRecord(value) && LISTS.every((list) => Array.isArray(value[list]));
}
