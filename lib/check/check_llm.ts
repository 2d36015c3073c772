import { prepareAnyType } from "../prompt/check_value.ts";
import type { LlmFields } from "../parse/document/operation.ts";
import { mediaTypeOf } from "../core/core.ts";
import { modelOfProvider, needsModel, noMedia, schemaOfText } from "../parse/document/llm.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";
import { fileOutside } from "./source_files.ts";
import { narrowedFile } from "./narrowing.ts";
import type { ProblemPlace } from "./check_options.ts";

/** Everything that an `@llm` needs besides its references (documents.md 7, 8.1). */
export async function checkLlm(
  fields: LlmFields,
  placed: PlacedOperation,
  context: CheckContext,
): Promise<void> {
  await checkModel(fields, placed, context);
  await checkTools(fields, placed, context);
  await checkMedia(fields, placed, context);
  await checkSaving(fields, placed, context);
  await checkSchema(fields, placed, context);
}

/** Whether it may write files: itself, or through tools. */
export function canMakeFiles(fields: LlmFields, { document }: PlacedOperation): boolean {
  return fields.saveToFile !== undefined ||
    (fields.tools ?? document.file.settings.tools ?? "none") !== "none";
}

async function checkModel(fields: LlmFields, placed: PlacedOperation, context: CheckContext): Promise<void> {
  const { provider, model } = fields;
  const { document: { file } } = placed;
  if (provider !== undefined && model === undefined) {
    context.problems.error(placeOf(placed, "provider"), needsModel(provider));
    return;
  }
  if (model === undefined && context.options.model !== undefined) return; // told once for all
  const isOfFile = model === undefined && file.settings.model !== undefined;
  const name = model === undefined ? undefined : modelOfProvider(model, provider);
  const problem = await context.modelProblem(name ?? file.settings.model);
  if (problem === undefined) return;
  const isProvider = provider !== undefined && problem.startsWith("unknown provider");
  const place = isOfFile ? frontMatter(placed, "model") : placeOf(placed, isProvider ? "provider" : "model");
  context.problems.error(place, problem);
}

async function checkTools(fields: LlmFields, placed: PlacedOperation, context: CheckContext): Promise<void> {
  const choice = fields.tools ?? placed.document.file.settings.tools;
  if (choice === undefined || typeof choice === "string") return;
  const place = fields.tools === undefined ? frontMatter(placed, "tools") : placeOf(placed, "tools");
  for (const name of choice) {
    const problem = await context.toolProblem(name);
    if (problem !== undefined) context.problems.error(place, problem);
  }
}

function frontMatter({ document: { file } }: PlacedOperation, key: string): ProblemPlace {
  return { file: file.path, line: file.settings.lines.get(key) ?? 1 };
}

async function checkSaving(fields: LlmFields, placed: PlacedOperation, context: CheckContext): Promise<void> {
  const { saveToFile: written } = fields;
  if (written === undefined) return;
  const { root, grants } = context.options;
  const place = placeOf(placed, "save-to-file");
  const path = context.files.shown(written, placed.path);
  const against = narrowedFile(placed.document.narrowing, { kind: "write", root, path, written });
  if (against !== undefined) {
    context.problems.error(place, against);
  } else if (!await grants.mayWrite()) {
    context.problems.error(place, "save-to-file needs write permission (--allow-write)");
  } else if (!await grants.mayWrite(path)) {
    const where = grants.isWriteListed ? "the project root or the granted paths" : "the project root";
    const flag = `--allow-write=${grants.flagPath?.(path) ?? written}`;
    context.problems.error(place, fileOutside(written, { kind: "write", flag, where }));
  }
}

/** Whether the files that a model is shown are of its kinds, are there, and are not too large. */
async function checkMedia(
  fields: LlmFields,
  placed: PlacedOperation,
  context: CheckContext,
): Promise<void> {
  const place = placeOf(placed, "media");
  for (const written of fields.media) {
    if (mediaTypeOf(written) === undefined) {
      context.problems.error(place, noMedia(written));
      continue;
    }
    const path = context.readable(written, { ...placed, place });
    if (path === undefined) continue;
    const problem = await context.files.mediaProblem(path);
    if ("failure" in problem) {
      context.tellFailure(problem.failure, { place, written, document: placed.document });
    } else if (problem.value !== undefined) {
      context.problems.error(place, `media "${written}" ${problem.value}`);
    }
  }
}

/** Whether the schema of an answer, or the file that it is in, can be used. */
async function checkSchema(
  fields: LlmFields,
  placed: PlacedOperation,
  context: CheckContext,
): Promise<void> {
  const { schema } = fields;
  if (schema === undefined) return;
  const place = placeOf(placed, "schema");
  if (typeof schema !== "string") return tellSchema(schema, { name: "schema", place, context });
  const path = context.readable(schema, { ...placed, place });
  if (path === undefined) return;
  const read = await context.files.text(path);
  if ("failure" in read) {
    return context.tellFailure(read.failure, { place, written: schema, document: placed.document });
  }
  const found = schemaOfText(read.value, schema);
  if ("problem" in found) return context.problems.error(place, found.problem);
  tellSchema(found.value, { name: `schema "${schema}"`, place, context });
}

function tellSchema(
  schema: Readonly<Record<string, unknown>>,
  { name, place, context }: {
    readonly name: string;
    readonly place: ProblemPlace;
    readonly context: CheckContext;
  },
): void {
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) context.problems.error(place, `${name} cannot be used${prepared.broken}`);
}
