import { byPlace, ProblemsError, SourceError, type SourceErrorOptions } from "../../core/core.ts";
import { MOST_TOLD } from "../yaml/check_fields.ts";
import { parseYaml } from "../yaml/yaml.ts";
import { FilePart, type FilePath, pathText, type Shape } from "./shape.ts";

/** A YAML file that fits its shape. */
export interface ShapedFile<Value> {
  readonly value: Value;
  /** A problem of a part that is found later. */
  problem(path: FilePath, message: string, cause?: unknown): SourceError;
}

/**
 * Reads a YAML file as a shape says.
 *
 * @throws {ProblemsError} with everything that is wrong, in the order of the file: `documents[0].file: MESSAGE`
 */
export async function readShape<Value>(
  shape: Shape<Value>,
  { file, text }: { readonly file: string; readonly text: string },
): Promise<ShapedFile<Value>> {
  const problems: SourceError[] = [];
  const yaml = await parseYaml(text, { file, repeated: problems });
  const problem = (path: FilePath, message: string, more: SourceErrorOptions) =>
    new SourceError(`${pathText(path)}: ${message}`, { source: text, code: "E-file", ...more });
  const value = shape.read(
    new FilePart(yaml.value, [], {
      tell(path, { message, at, hint }) {
        if (problems.length >= MOST_TOLD) return;
        problems.push(problem(path, message, { span: yaml.near(path, at), hint }));
      },
      written: yaml.written,
      span: (path) => yaml.near(path, "key"),
    }),
  );
  if (problems.length > 0) {
    const start = { line: 1, column: 1 };
    throw new ProblemsError(problems.toSorted((a, b) => byPlace(a.span ?? start, b.span ?? start)));
  }
  return {
    value,
    problem: (path, message, cause) => problem(path, message, { span: yaml.near(path), cause }),
  };
}
