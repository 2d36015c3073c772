import { messageOf } from "../core/source_error.ts";
import { isReference, type PromptFileFields } from "../parse/prompt_file.ts";
import type { FieldProblem } from "../prompt/prompt_problem.ts";
import { referencedGadget, referencedSchema, type ReferenceOptions } from "./module_reference.ts";

/** The parts of a file that may be in modules. */
export interface ReferencedParts {
  /** A schema that takes everything, for a reference that leads nowhere. */
  readonly format: unknown;
  /** Null stands for what is no tool, and for a reference that leads nowhere. */
  readonly tools: readonly unknown[] | undefined;
  readonly problems: readonly FieldProblem[];
}

/** Finds what a file refers to. Nothing throws; what is wrong with one module is told once. */
export async function referencedParts(
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
