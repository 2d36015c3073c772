import { modelOfProvider, needsModel } from "../parse/model_of_provider.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";
import { checkMedia } from "./check_media.ts";
import { checkSchema } from "./check_schema.ts";
import { fileOutside } from "./file_words.ts";
import { narrowedFile } from "./narrowing.ts";
import type { ProblemPlace } from "./problem_list.ts";

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
