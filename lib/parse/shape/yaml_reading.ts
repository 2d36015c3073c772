import { byPlace, ProblemsError, SourceError, type Span } from "../../core/core.ts";
import { MOST_TOLD } from "../yaml/check_fields.ts";
import { parseYaml, type YamlDocument } from "../yaml/yaml.ts";
import { FilePart, type FilePath, type FileReading, type Finding, pathText, type Shape } from "./shape.ts";

/** A YAML file that is read by a shape. */
export class YamlReading implements FileReading {
  readonly #file: string;
  readonly #text: string;
  readonly #yaml: YamlDocument;
  readonly #problems: SourceError[];

  private constructor(yaml: YamlDocument, repeated: SourceError[], from: { file: string; text: string }) {
    this.#yaml = yaml;
    this.#problems = repeated;
    this.#file = from.file;
    this.#text = from.text;
  }

  /**
   * Reads a text as the shape says.
   *
   * @throws {ProblemsError} with everything that is wrong, in the order of the file: `documents[0].file: MESSAGE`
   */
  static async read<Value>(
    shape: Shape<Value>,
    { file, text }: { readonly file: string; readonly text: string },
  ): Promise<{ readonly value: Value; readonly reading: YamlReading }> {
    const repeated: SourceError[] = [];
    const yaml = await parseYaml(text, { file, repeated });
    const reading = new YamlReading(yaml, repeated, { file, text });
    const value = shape.read(new FilePart(yaml.value, [], reading));
    if (repeated.length === 0) return { value, reading };
    const placed = repeated.map((problem) => ({ problem, ...(problem.span ?? reading.span([])) }));
    throw new ProblemsError(placed.toSorted(byPlace).map(({ problem }) => problem));
  }

  tell(path: FilePath, { message, at = "value", hint }: Finding): void {
    if (this.#problems.length >= MOST_TOLD) return;
    const span = at === "value"
      ? this.#span(path, "value")
      : this.#span(at === "key" ? path : [...path, at.key], "key");
    this.#problems.push(this.#problem(path, message, { span, hint }));
  }

  written(path: FilePath): string | undefined {
    return this.#yaml.written(path);
  }

  span(path: FilePath): Span {
    return this.#span(path, "key");
  }

  /** A problem of a part that is found later. */
  problem(path: FilePath, message: string, cause?: unknown): SourceError {
    return this.#problem(path, message, { span: this.#span(path, "value"), cause });
  }

  #span(path: FilePath, what: "key" | "value"): Span {
    const span = path.length === 0 ? undefined : this.#yaml.at(path, what);
    return span ?? { file: this.#file, line: 1, column: 1 };
  }

  #problem(
    path: FilePath,
    message: string,
    more: { readonly span: Span; readonly hint?: string; readonly cause?: unknown },
  ): SourceError {
    return new SourceError(`${pathText(path)}: ${message}`, { source: this.#text, code: "E-file", ...more });
  }
}
