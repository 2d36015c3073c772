import { dirname, resolve } from "node:path";
import {
  type AnyGadget,
  FileError,
  isInside,
  isRecord,
  isStandardSchema,
  messageOf,
  type Problem,
  type Schema,
} from "../../core/core.ts";
import {
  isReference,
  type PromptFile,
  type PromptFileFields,
  readPromptFile,
} from "../../parse/files/prompt.ts";
import { MOST_TOLD } from "../../parse/yaml/check_fields.ts";
import { FILE_START, type LineProblem } from "../../parse/yaml/front_matter.ts";
import { definePrompt } from "../../prompt/define_prompt.ts";
import type { HandlebarsBodies } from "../../prompt/dotprompt/handlebars.ts";
import { definitionProblems, partsOf } from "../../prompt/parts.ts";
import type { AnyPrompt, PromptDef } from "../../prompt/prompt.ts";
import type { FieldProblem } from "../../prompt/prompt_problem.ts";
import { templateProblems } from "../../prompt/prompt_text.ts";
import type { PromptFileProblem } from "../../prompt/prompt_trouble.ts";
import { promptPath, PromptRegistry } from "../../prompt/registry.ts";
import { tags } from "../../prompt/tags.ts";
import { checkGadget } from "../../schema/define_gadget.ts";
import { loadExports, type LoadModule, moduleProblem } from "../module_loader.ts";
import { inOrder, type ProjectPlace, sortedProblems, throwProblems } from "../project_file.ts";
import { projectSources, type SourcesOptions } from "../sources/sources.ts";
import type { SourceFile } from "../sources/files.ts";
import {
  type FileKey,
  keyIn,
  keyOfFile,
  type MadePrompt,
  modulePrompts,
  type PromptClaim,
  type ReadSource,
} from "./claim.ts";
import { writtenPlaces } from "./dotprompt.ts";
import { type LocatedPrompt, makePrompts } from "./make.ts";

/** A folder of prompts: its path from the project's root, and what the names of its prompts begin with. */
export type PromptFolder = string | { readonly path: string; readonly prefix?: string };

/** What is looked for, and how. */
export interface DiscoverOptions extends ReadOptions, Omit<SourcesOptions, "folders"> {
  /** In place of the folders of `orrery.yaml`; none scans nothing. */
  readonly folders?: readonly PromptFolder[];
  /** Default true: any problem is thrown. */
  readonly strict?: boolean;
  /** Where the prompts go. Default: a new one. */
  readonly registry?: PromptRegistry;
}

/** The prompts that were found, and what was wrong with others: by file, then by place. */
export interface Discovery {
  readonly registry: PromptRegistry;
  readonly problems: readonly Problem[];
}

/** What was found, with the places where it is defined. */
export interface LocatedDiscovery extends Discovery {
  readonly problems: readonly PromptFileProblem[];
  /** By path, sorted. */
  readonly located: ReadonlyMap<string, LocatedPrompt>;
  /** Every file that may define some. */
  readonly sources: readonly SourceFile[];
}

/**
 * Finds the prompts of a project and registers each under its path (prompts.md 12).
 *
 * @throws {PromptError} `discover`, with all problems, when there are any and `strict` is not false; nothing is registered then
 */
export async function discoverPrompts(options: DiscoverOptions): Promise<LocatedDiscovery> {
  const { strict = true, registry = new PromptRegistry() } = options;
  const sources = await projectSources("prompts", options);
  const read = await readSources(sources.files, options);
  const made = await makePrompts(read.claims, { ...options, known: registry });
  const ofFolders = sources.problems.map((problem) => ({ ...problem, key: null }));
  const problems = sortedProblems<PromptFileProblem>([...ofFolders, ...read.problems, ...made.problems]);
  if (strict) throwProblems(problems);
  for (const { prompt } of made.prompts) registry.register(prompt);
  const sorted = made.prompts.toSorted((a, b) => a.prompt.path < b.prompt.path ? -1 : 1);
  return {
    registry,
    located: new Map(sorted.map((each) => [each.prompt.path, each])),
    sources: sources.files,
    problems,
  };
}

/** How files are read. */
interface ReadOptions extends ProjectPlace {
  readonly loadModule: LoadModule;
}

/** How many files are read at a time. */
const AT_ONCE = 64;

/** Reads files, and gives what they say in the order of the files. */
async function readSources(
  sources: readonly SourceFile[],
  options: ReadOptions,
): Promise<{ readonly claims: readonly PromptClaim[]; readonly problems: readonly PromptFileProblem[] }> {
  const dotprompt = sources.some(({ kind }) => kind === "dotprompt")
    ? await dotpromptReader(options)
    : undefined;
  const read: ReadSource[] = [];
  for (let start = 0; start < sources.length; start += AT_ONCE) {
    const some = sources.slice(start, start + AT_ONCE);
    read.push(...await Promise.all(some.map((source) => readSource(source, options, dotprompt))));
  }
  return {
    claims: read.flatMap(({ claims }) => claims),
    problems: sources.flatMap((source, index) => {
      const about = { file: source.file, ...keyOf(source) };
      return (read[index]?.problems ?? []).map((problem) => ({ ...about, ...problem }));
    }),
  };
}

/** What a file that cannot be read would define: a module's prompts are called by its place, others may have names of their own. */
function keyOf({ kind, namespace, stem }: SourceFile): Pick<PromptFileProblem, "key" | "isUnsure"> {
  const key = keyIn(namespace, stem);
  return kind === "module" ? { key: `${key}/` } : { key, isUnsure: true };
}

type Read = (source: SourceFile) => Promise<ReadSource>;

async function readSource(
  source: SourceFile,
  options: ReadOptions,
  dotprompt: Read | undefined,
): Promise<ReadSource> {
  try {
    if (source.kind === "module") return await modulePrompts(source, options);
    if (source.kind === "dotprompt") return await dotprompt?.(source) ?? { claims: [], problems: [] };
    const file = await readPromptFile(await options.files.readText(source.path));
    return { claims: [new TextPrompt(file, source, options).claim()], problems: [] };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    const message = messageOf(thrown).replaceAll(source.path, source.file);
    return { claims: [], problems: [{ line: 1, message }] };
  }
}

/** Handlebars and the dotprompt package take a while to load: only where there is such a file. */
async function dotpromptReader({ files }: ReadOptions): Promise<Read> {
  const { loadHandlebars }: typeof import("../../prompt/dotprompt/handlebars.ts") = await import(
    "../../prompt/dotprompt/handlebars.ts" as string
  );
  const { readDotpromptFile }: typeof import("../../prompt/dotprompt/dotprompt.ts") = await import(
    "../../prompt/dotprompt/dotprompt.ts" as string
  );
  const { dotpromptPrompt }: typeof import("./dotprompt.ts") = await import(
    "./dotprompt.ts" as string
  );
  const bodies: HandlebarsBodies = await loadHandlebars();
  return async (source) => {
    const file = await readDotpromptFile(await files.readText(source.path), bodies);
    return dotpromptPrompt(file, source, { files, bodies });
  };
}

function hasReferences({ fields: { format, tools = [] } }: PromptFile): boolean {
  return isReference(format) || tools.some(isReference);
}

/** A file has `tags` where a program has a parser. */
function inWordsOfFiles<Problem extends { readonly message: string }>(problem: Problem): Problem {
  return { ...problem, message: problem.message.replace("either parser or format", "either tags or format") };
}

/** The prompt of a `*.prompt.md` file that was read (prompts.md 12). */
class TextPrompt {
  readonly #file: PromptFile;
  readonly #source: SourceFile;
  readonly #options: ReadOptions;
  readonly #name: FileKey;
  /** Of the front matter, the name and the base. */
  readonly #known: LineProblem[];
  #parts: Promise<ReferencedParts> | undefined;

  constructor(file: PromptFile, source: SourceFile, options: ReadOptions) {
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

/** The parts of a file that may be in modules. */
interface ReferencedParts {
  /** A schema that takes everything, for a reference that leads nowhere. */
  readonly format: unknown;
  /** Null stands for what is no tool, and for a reference that leads nowhere. */
  readonly tools: readonly unknown[] | undefined;
  readonly problems: readonly FieldProblem[];
}

/** Finds what a file refers to. Nothing throws; what is wrong with one module is told once. */
async function referencedParts(
  { format, tools }: PromptFileFields,
  options: ReferenceOptions,
): Promise<ReferencedParts> {
  const [foundTools, foundFormat] = await Promise.all([
    Promise.all(
      (tools ?? []).map((tool) => found(tool, (reference) => referencedGadget(reference, options))),
    ),
    found(format, (reference) => referencedSchema(reference, options)),
  ]);
  const failed = [
    ...foundTools.map(({ message }, index) => ({ path: ["tools", index], message })),
    { path: ["format"], message: foundFormat.message },
  ].flatMap(({ path, message }) => message === undefined ? [] : [{ path, message }]);
  const unique = new Map(failed.toReversed().map((problem) => [problem.message, problem]));
  return {
    format: foundFormat.message === undefined ? foundFormat.value : {},
    tools: tools && foundTools.map(({ value }) => value),
    problems: [...unique.values()].toReversed().map(({ path, message }) => ({
      path,
      message: `${path[0]}: ${message}`,
    })),
  };
}

/** The value itself, unless it is a reference. */
async function found(
  value: unknown,
  look: (reference: string) => Promise<unknown>,
): Promise<{ readonly value: unknown; readonly message?: string }> {
  if (!isReference(value)) return { value };
  try {
    return { value: await look(value) };
  } catch (thrown) {
    return { value: null, message: messageOf(thrown) };
  }
}

/** Where references are read, and how modules are loaded. */
interface ReferenceOptions extends ProjectPlace {
  /** The file that has the reference; absolute. */
  readonly from: string;
  readonly loadModule: LoadModule;
}

/** The gadget of `./file.ts#export`. @throws {Error} that says why there is none */
async function referencedGadget(reference: string, options: ReferenceOptions): Promise<AnyGadget> {
  const value = await referencedExport(reference, options);
  if (!isRecord(value)) throw new Error(`${reference} is not a gadget`);
  try {
    return checkGadget(value, reference);
  } catch (thrown) {
    throw new Error(`${reference} is not a gadget: ${messageOf(thrown).replaceAll(`${reference}: `, "")}`);
  }
}

/** The schema of `./file.ts#Export`. @throws {Error} that says why there is none */
async function referencedSchema(reference: string, options: ReferenceOptions): Promise<Schema> {
  const value = await referencedExport(reference, options);
  if (isStandardSchema(value) || (isRecord(value) && !("kind" in value))) return value;
  throw new Error(`${reference} is not a schema`);
}

async function referencedExport(reference: string, options: ReferenceOptions): Promise<unknown> {
  const { from, root, files, loadModule } = options;
  const [file = "", name = ""] = reference.split("#");
  const path = resolve(dirname(from), file);
  if (!isInside(path, root) || !isInside(await files.resolve(path), root)) {
    throw new Error(`${reference} is outside the project`);
  }
  try {
    const exported = await loadExports(path, loadModule);
    return Object.hasOwn(exported, name) ? exported[name] : undefined;
  } catch (thrown) {
    const { message } = moduleProblem(thrown, { path, root });
    throw new Error(`cannot load ${file}: ${message}`);
  }
}
