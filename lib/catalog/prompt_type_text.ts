import { dirname, resolve } from "node:path";
import { isReference } from "../parse/prompt_file.ts";
import type { PromptFile } from "../parse/prompt_file.ts";
import type { DotpromptFile } from "../prompt/dotprompt_file.ts";
import { partsOf } from "../prompt/prompt_parts.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import { tagLists } from "../prompt/tag_spec.ts";
import { isStandardSchema } from "../core/gadget.ts";
import { jsonSchemaType } from "./json_schema_type.ts";
import type { LocatedPrompt } from "./make_prompts.ts";
import type { PromptClaim } from "./prompt_claim.ts";
import { exportType, namesType, specifierOf } from "./type_words.ts";

/** The file that the type is for; absolute. */
interface TypePlace {
  readonly from: string;
}

/**
 * The type of a prompt as TypeScript writes it: of a module what that exports, of another file what it says. It may use the types of
 * Orrery, and `TextPrompt` and `PartsOf` of the file it is for.
 */
export function promptTypeText({ prompt, claim }: LocatedPrompt, { from }: TypePlace): string {
  const { exported, source } = claim;
  if (exported !== undefined) return exportType(specifierOf(source.path, { from }), exported);
  if (isDotpromptFile(claim)) return dotpromptType(claim.value);
  return isPromptFile(claim) ? new TextTypes(claim.value, { prompt, claim, from }).whole() : "AnyPrompt";
}

/** The modules that the files of prompts refer to, absolute. */
export function referencedModules({ claim }: LocatedPrompt): readonly string[] {
  if (!isPromptFile(claim)) return [];
  const { format, tools = [] } = claim.value.fields;
  return [format, ...tools].filter(isReference).map((each) => referenceOf(each, claim.source.path).path);
}

function isPromptFile(claim: PromptClaim): claim is PromptClaim & { readonly value: PromptFile } {
  return claim.source.kind === "text" && "fields" in claim.value;
}

/** Whether a prompt is that of a `*.prompt` file. */
export function isDotpromptFile(
  claim: PromptClaim,
): claim is PromptClaim & { readonly value: DotpromptFile } {
  return claim.source.kind === "dotprompt" && "input" in claim.value;
}

function dotpromptType({ body, format, tools, input }: DotpromptFile): string {
  const output = format === null ? "Raw" : jsonSchemaType(format, { values: "checked" });
  const args = input.schema === undefined
    ? "Readonly<Record<string, unknown>>"
    : jsonSchemaType(input.schema, { values: "given", optional: Object.keys(input.default ?? {}) });
  const names = tools.map((tool) => JSON.stringify(tool)).join(", ");
  return `Prompt<${JSON.stringify(body)}, ${output}, readonly [${names}], ${args}>`;
}

/** The parts of the type of a `*.prompt.md` file: what it says itself, else what it inherits. */
class TextTypes {
  readonly #file: PromptFile;
  readonly #prompt: AnyPrompt;
  readonly #path: string;
  readonly #base: string | undefined;
  readonly #from: string;

  constructor(file: PromptFile, { prompt, claim, from }: LocatedPrompt & TypePlace) {
    this.#file = file;
    this.#prompt = prompt;
    this.#path = claim.source.path;
    this.#base = claim.base?.key;
    this.#from = from;
  }

  whole(): string {
    const parts = `${this.#template()}, ${this.#output()}, ${this.#tools()}`;
    const args = this.#inheritedArgs();
    return args === undefined ? `TextPrompt<${parts}>` : `Prompt<${parts}, ${args}>`;
  }

  #template(): string {
    const { body } = this.#file;
    return (body === "" ? this.#inherited("template") : undefined) ?? JSON.stringify(body);
  }

  #output(): string {
    const { tags, format } = this.#file.fields;
    if (tags) {
      const { xmlTags, requiredXmlTags, mdTags, requiredMdTags, signalTags } = tagLists(tags);
      const others = (names: readonly string[], required: readonly string[]) =>
        names.filter((name) => !required.includes(name));
      const lists = [others(xmlTags, requiredXmlTags), requiredXmlTags];
      lists.push(others(mdTags, requiredMdTags), requiredMdTags, signalTags);
      return `TagResult<${lists.map(namesType).join(", ")}>`;
    }
    if (format) return this.#formatOutput(format);
    return tags === null || format === null ? "Raw" : this.#inherited("output") ?? "Raw";
  }

  #formatOutput(format: NonNullable<PromptFile["fields"]["format"]>): string {
    if (typeof format !== "string") return jsonSchemaType(format, { values: "checked" });
    const schema = this.#prompt.format;
    if (schema !== null && !isStandardSchema(schema)) return jsonSchemaType(schema, { values: "checked" });
    return `InputOf<${this.#referenced(format)}>`;
  }

  #tools(): string {
    const { tools } = this.#file.fields;
    if (tools === undefined) return this.#inherited("tools") ?? "readonly []";
    const types = tools.map((tool) => isReference(tool) ? this.#referenced(tool) : JSON.stringify(tool));
    return `readonly [${types.join(", ")}]`;
  }

  /** A renderer that is inherited knows alone what its templates take. */
  #inheritedArgs(): string | undefined {
    const base = this.#inherited("args");
    return base !== undefined && partsOf(this.#prompt).renderer !== null ? base : undefined;
  }

  #inherited(part: "template" | "output" | "tools" | "args"): string | undefined {
    return this.#base === undefined ? undefined : `PartsOf<${JSON.stringify(this.#base)}>["${part}"]`;
  }

  #referenced(reference: string): string {
    const { path, name } = referenceOf(reference, this.#path);
    return exportType(specifierOf(path, { from: this.#from }), name);
  }
}

function referenceOf(reference: string, from: string): { readonly path: string; readonly name: string } {
  const [file = "", name = ""] = reference.split("#");
  return { path: resolve(dirname(from), file), name };
}
