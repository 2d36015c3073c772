import { isRecord, messageOf } from "../../core/core.ts";
import { MOST_TOLD } from "../../parse/yaml/check_fields.ts";
import {
  type FieldPath,
  FILE_START,
  type LineProblem,
  type Place,
  readFrontMatter,
  splitFrontMatter,
} from "../../parse/yaml/front_matter.ts";
import { definePrompt } from "../../prompt/define_prompt.ts";
import { type DotpromptFile, dotpromptRenderer } from "../../prompt/dotprompt/dotprompt.ts";
import type { HandlebarsBodies } from "../../prompt/dotprompt/handlebars.ts";
import { definitionProblems } from "../../prompt/parts.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { inOrder, type ProjectPlace } from "../project_file.ts";
import type { SourceFile } from "../sources/files.ts";
import { type FileKey, keyOfFile, type MadePrompt, type ReadSource } from "./claim.ts";

/** How the prompt of a file is made. */
export interface DotpromptOptions extends Pick<ProjectPlace, "files"> {
  readonly bodies: HandlebarsBodies;
}

/** The prompt of a `*.prompt` file that was read (prompts.md 12). */
export function dotpromptPrompt(
  file: DotpromptFile,
  source: SourceFile,
  options: DotpromptOptions,
): ReadSource {
  const { name, isNamed, namePlace } = file;
  const named = keyOfFile(source, { name, isNamed, place: namePlace });
  const { key, isUnsure } = named;
  const problems = () => problemsOf(file, { source, named, options });
  const make = async (): Promise<MadePrompt> => {
    if (file.problems.length + named.problems.length > 0) return { problems: await problems() };
    try {
      return { prompt: defined(file, key, options) };
    } catch (thrown) {
      const found = await problems();
      return { problems: found.length > 0 ? found : [{ ...FILE_START, message: messageOf(thrown) }] };
    }
  };
  const about = { key, source, ...(isUnsure && { isUnsure }) };
  return { claims: [{ ...about, value: file, make, problems }], problems: [] };
}

function defined(file: DotpromptFile, key: string, { bodies }: DotpromptOptions): AnyPrompt {
  const { body, input, format, tools, metadata } = file;
  return definePrompt({
    path: key,
    template: body,
    renderer: dotpromptRenderer(input, bodies),
    format,
    tools: tools.filter((tool) => tool !== null), // none is, in a file without a problem
    metadata,
  });
}

async function problemsOf(
  { tools, metadata: { dotprompt, ...metadata }, problems }: DotpromptFile,
  { source, named, options }: {
    readonly source: SourceFile;
    readonly named: FileKey;
    readonly options: DotpromptOptions;
  },
): Promise<readonly LineProblem[]> {
  const ofSettings = definitionProblems({ metadata: writtenSettings(dotprompt) }, named.key);
  const ofFields = [
    ...definitionProblems({ tools, metadata }, named.key),
    ...ofSettings.map(({ path, message }) => ({ path: path.slice(1), message })),
  ];
  const placeOf = ofFields.length === 0 ? () => FILE_START : await writtenPlaces(source, options);
  return inOrder([
    ...problems,
    ...named.problems,
    ...ofFields.slice(0, MOST_TOLD).map(({ path, message }) => ({ ...placeOf(path), message })),
  ]);
}

/** By the keys of the file. */
function writtenSettings(dotprompt: unknown): Readonly<Record<string, unknown>> {
  const { ext, ...settings } = isRecord(dotprompt) ? dotprompt : {};
  const dotted = Object.entries(isRecord(ext) ? ext : {}).flatMap(([space, inside]) =>
    Object.entries(isRecord(inside) ? inside : {}).map(([key, value]) => [`${space}.${key}`, value])
  );
  return { ...settings, ...Object.fromEntries(dotted) };
}

/** The place of the key at a path. */
type PlaceOf = (path: FieldPath) => Place;

/** Where the parts of a front matter stand: the file is read once more, since only a file with a mistake needs more than a few places. */
export async function writtenPlaces(
  { path }: SourceFile,
  { files }: Pick<ProjectPlace, "files">,
): Promise<PlaceOf> {
  const text = await files.readText(path).catch(() => ""); // it was there a moment ago
  const split = splitFrontMatter(text);
  const { placeOf } = await readFrontMatter("problem" in split ? undefined : split.yaml);
  return placeOf;
}
