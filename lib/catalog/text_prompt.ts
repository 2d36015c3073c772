import type { AnyGadget } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { isReference, type PromptFile } from "../parse/prompt_file.ts";
import { definePrompt } from "../prompt/define_prompt.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import type { AnyPrompt, PromptDef } from "../prompt/prompt_type.ts";
import { tags } from "../prompt/tags.ts";
import { locatedProblem } from "./located_problem.ts";
import type { LoadModule } from "./module_loader.ts";
import { referencedGadget, referencedSchema, type ReferenceOptions } from "./module_reference.ts";
import type { ProjectPlace } from "./project_file.ts";
import { keyOfFile, type MadePrompt, type ReadSource } from "./prompt_claim.ts";
import type { SourceFile } from "./source_files.ts";

/** How what a file refers to is found. */
export interface TextPromptOptions extends ProjectPlace {
  readonly loadModule: LoadModule;
}

/** The prompt of a `*.prompt.md` file that was read (prompts.md 12). */
export function textPrompt(file: PromptFile, source: SourceFile, options: TextPromptOptions): ReadSource {
  const { fields, lines, problems } = file;
  if (problems.length > 0) return { claims: [], problems };
  let reading = "name";
  try {
    const key = keyOfFile(source, fields.name);
    reading = "extends";
    const base = fields.extends === undefined ? undefined : promptPath(fields.extends);
    const claim = {
      key,
      source,
      value: file,
      isSteady: !hasReferences(file),
      ...(base !== undefined && { base: { key: base, line: lines.extends ?? 1 } }),
      make: (base: AnyPrompt | undefined) => new TextPrompt(file, source, options).make(key, base),
    };
    return { claims: [claim], problems };
  } catch (thrown) {
    return { claims: [], problems: [{ line: lines[reading] ?? 1, message: messageOf(thrown) }] };
  }
}

function hasReferences({ fields: { format, tools = [] } }: PromptFile): boolean {
  return isReference(format) || tools.some(isReference);
}

class TextPrompt {
  readonly #file: PromptFile;
  readonly #references: ReferenceOptions;
  readonly #problems: LineProblem[] = [];

  constructor(file: PromptFile, source: SourceFile, options: TextPromptOptions) {
    this.#file = file;
    this.#references = { ...options, from: source.path };
  }

  async make(key: string, base: AnyPrompt | undefined): Promise<MadePrompt> {
    const { format, tools } = this.#file.fields;
    const parts = hasReferences(this.#file)
      ? { format: await this.#format(), tools: await this.#tools() }
      : { format, tools };
    return this.#define(parts, { key, base });
  }

  #define(
    parts: { readonly format: unknown; readonly tools: unknown },
    { key, base }: { readonly key: string; readonly base: AnyPrompt | undefined },
  ): MadePrompt {
    const { fields: { mcp, addons, handler, ...own }, body, bodyLine, lines } = this.#file;
    const fields = {
      ...(body === "" && base !== undefined ? {} : { template: body }),
      parser: this.#tags(),
      ...parts,
      mcp,
      addons,
      handler,
      metadata: own.description === undefined
        ? own.metadata
        : { ...own.metadata, description: own.description },
    };
    if (this.#problems.length > 0) return { problems: this.#problems };
    const define = (some: Readonly<Record<string, unknown>>) => {
      const parts = some as Partial<PromptDef>; // what a file may say is checked when the prompt is defined
      return base === undefined
        ? definePrompt({ template: "", ...parts, path: key })
        : base.extend({ ...parts, path: key });
    };
    try {
      return { prompt: define(fields) };
    } catch (thrown) {
      const problem = locatedProblem(thrown, {
        fields,
        define,
        lineOf: (field) => lines[field === "parser" ? "tags" : field],
        templateLine: bodyLine,
        templateErrors: `prompt "${key}": template `,
      });
      return { problems: [problem] };
    }
  }

  #tags(): unknown {
    const { tags: spec } = this.#file.fields;
    try {
      return spec && tags(spec);
    } catch (thrown) {
      return this.#refuse("tags", thrown);
    }
  }

  async #format(): Promise<unknown> {
    const { format } = this.#file.fields;
    try {
      return isReference(format) ? await referencedSchema(format, this.#references) : format;
    } catch (thrown) {
      return this.#refuse("format", thrown);
    }
  }

  async #tools(): Promise<readonly (AnyGadget | string)[] | undefined> {
    const { tools } = this.#file.fields;
    try {
      return tools && await Promise.all(
        tools.map((tool) => isReference(tool) ? referencedGadget(tool, this.#references) : tool),
      );
    } catch (thrown) {
      return this.#refuse("tools", thrown);
    }
  }

  /** A part that cannot be had is a problem of its key. */
  #refuse(key: string, thrown: unknown): undefined {
    const said = messageOf(thrown);
    const message = said.startsWith(`${key}: `) ? said : `${key}: ${said}`;
    this.#problems.push({ line: this.#file.lines[key] ?? 1, message });
  }
}
