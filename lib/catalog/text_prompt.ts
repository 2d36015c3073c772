import { messageOf } from "../core/source_error.ts";
import { MOST_TOLD } from "../parse/check_fields.ts";
import { FILE_START, type LineProblem } from "../parse/front_matter.ts";
import { isReference, type PromptFile } from "../parse/prompt_file.ts";
import { definitionProblems } from "../prompt/changed_parts.ts";
import { templateProblems } from "../prompt/prompt_text.ts";
import { definePrompt } from "../prompt/define_prompt.ts";
import { partsOf } from "../prompt/prompt_parts.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import type { AnyPrompt, PromptDef } from "../prompt/prompt_type.ts";
import { tags } from "../prompt/tags.ts";
import type { LoadModule } from "./module_loader.ts";
import type { ProjectPlace } from "./project_file.ts";
import {
  type FileKey,
  keyOfFile,
  type MadePrompt,
  type PromptClaim,
  type ReadSource,
} from "./prompt_claim.ts";
import { type ReferencedParts, referencedParts } from "./referenced_parts.ts";
import type { SourceFile } from "./source_files.ts";
import { inOrder } from "./throw_problems.ts";
import { writtenPlaces } from "./written_places.ts";

/** How what a file refers to is found. */
export interface TextPromptOptions extends ProjectPlace {
  readonly loadModule: LoadModule;
}

/** The prompt of a `*.prompt.md` file that was read (prompts.md 12). */
export function textPrompt(file: PromptFile, source: SourceFile, options: TextPromptOptions): ReadSource {
  return { claims: [new TextPrompt(file, source, options).claim()], problems: [] };
}

function hasReferences({ fields: { format, tools = [] } }: PromptFile): boolean {
  return isReference(format) || tools.some(isReference);
}

/** A file has `tags` where a program has a parser. */
function inWordsOfFiles<Problem extends { readonly message: string }>(problem: Problem): Problem {
  return { ...problem, message: problem.message.replace("either parser or format", "either tags or format") };
}

class TextPrompt {
  readonly #file: PromptFile;
  readonly #source: SourceFile;
  readonly #options: TextPromptOptions;
  readonly #name: FileKey;
  /** Of the front matter, the name and the base. */
  readonly #known: LineProblem[];
  #parts: Promise<ReferencedParts> | undefined;

  constructor(file: PromptFile, source: SourceFile, options: TextPromptOptions) {
    const { fields: { name }, isNamed, places } = file;
    this.#file = file;
    this.#source = source;
    this.#options = options;
    this.#name = keyOfFile(source, { name, isNamed, place: places.name });
    this.#known = [...file.problems, ...this.#name.problems];
  }

  claim(): PromptClaim {
    const base = this.#base();
    return {
      key: this.#name.key,
      ...(this.#name.isUnsure && { isUnsure: true }),
      source: this.#source,
      value: this.#file,
      isSteady: !hasReferences(this.#file),
      base,
      make: (base) => this.#make(base),
      problems: ({ isForeign }) => this.#problems(isForeign),
    };
  }

  #base(): PromptClaim["base"] {
    const { fields, places: { extends: place = FILE_START } } = this.#file;
    if (fields.extends === undefined) return undefined;
    try {
      return { key: promptPath(fields.extends), ...place };
    } catch (thrown) {
      this.#known.push({ ...place, message: messageOf(thrown) });
      return undefined;
    }
  }

  async #make(base: AnyPrompt | undefined): Promise<MadePrompt> {
    const { fields } = this.#file;
    const { format, tools, problems } = hasReferences(this.#file)
      ? await this.#referenced()
      : { ...fields, problems: [] };
    try {
      if (this.#known.length + problems.length === 0) {
        return { prompt: this.#define({ format, tools }, base) };
      }
    } catch (thrown) {
      const found = await this.#problems(isForeign(base));
      return {
        problems: found.length > 0 ? found : [inWordsOfFiles({ ...FILE_START, message: messageOf(thrown) })],
      };
    }
    return { problems: await this.#problems(isForeign(base)) };
  }

  #define(
    parts: { readonly format: unknown; readonly tools: unknown },
    base: AnyPrompt | undefined,
  ): AnyPrompt {
    const { fields: { tags: spec, mcp, addons, handler, description, metadata }, body } = this.#file;
    const fields = {
      ...(body === "" && base !== undefined ? {} : { template: body }),
      parser: spec && tags(spec),
      ...parts,
      mcp,
      addons,
      handler,
      metadata: description === undefined ? metadata : { ...metadata, description },
    };
    const { key } = this.#name;
    const definition = fields as Partial<PromptDef>; // what a file may say is checked when the prompt is defined
    return base === undefined
      ? definePrompt({ template: "", ...definition, path: key })
      : base.extend({ ...definition, path: key });
  }

  /** Everything that is wrong with the file, in the order of the text. */
  async #problems(isForeign: boolean): Promise<readonly LineProblem[]> {
    const { fields, body, bodyLine } = this.#file;
    const { key } = this.#name;
    const { format, tools, problems } = await this.#referenced();
    const { name: _name, description: _description, extends: _extends, ...written } = fields;
    const ofFields = [
      ...problems,
      ...definitionProblems({ ...written, format, tools }, key).map(inWordsOfFiles),
    ];
    const placeOf = ofFields.length === 0
      ? () => FILE_START
      : await writtenPlaces(this.#source, this.#options);
    return inOrder([
      ...this.#known,
      ...ofFields.slice(0, MOST_TOLD).map(({ path, message }) => ({ ...placeOf(path), message })),
      ...(isForeign ? [] : templateProblems(body, { path: key, bodyLine })),
    ]);
  }

  #referenced(): Promise<ReferencedParts> {
    return this.#parts ??= referencedParts(this.#file.fields, { ...this.#options, from: this.#source.path });
  }
}

/** What a prompt with a renderer of its own hands on is no template of Orrery's grammar. */
function isForeign(base: AnyPrompt | undefined): boolean {
  return base !== undefined && partsOf(base).renderer !== null;
}
