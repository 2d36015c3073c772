import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { TemplateError } from "../parse/template_error.ts";
import { templateProblems } from "../parse/template_problems.ts";
import { definedPrompt } from "../prompt/define_prompt.ts";
import { schemaProblems } from "../prompt/schema_problems.ts";
import { tags } from "../prompt/tags.ts";
import { toolName } from "../prompt/tool_list.ts";
import { isStandardSchema } from "../core/gadget.ts";
import { type FieldProblem, problemAt, type Refusal } from "./field_problem.ts";
import { mcpProblems } from "./mcp_problems.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a file says of a prompt: the fields of `definePrompt`, with `tags` for the parser. Parts that are null are left out. */
export interface WrittenDefinition {
  readonly tags?: unknown;
  readonly format?: unknown;
  readonly tools?: readonly unknown[];
  readonly mcp?: readonly unknown[];
  readonly addons?: Fields;
  readonly handler?: Fields;
  readonly metadata?: Fields;
}

/** Everything that `definePrompt` has against the fields of a prompt, where it throws the first: it is asked about each part alone. */
export function definitionProblems(definition: WrittenDefinition, key: string): readonly FieldProblem[] {
  const { format, tools = [], mcp = [], addons = {}, handler = {}, metadata = {} } = definition;
  const refusal: Refusal = (fields) =>
    refusalOf(() => definedPrompt({ path: key, template: "", ...fields }))?.message;
  return [
    ...contractProblems(definition, refusal),
    ...tagProblems(definition.tags),
    ...formatProblems(format, key),
    ...toolProblems(tools, { key, refusal }),
    ...mcpProblems(mcp, { key, refusal }),
    ...Object.entries(addons).flatMap(([name, value]) => addonProblems(name, value, refusal)),
    ...Object.entries(handler).flatMap(([event, text]) => handlerProblems(event, text, key)),
    ...Object.entries(metadata).flatMap(([name, value]) =>
      problemAt(["metadata", name], refusal({ metadata: { [name]: value } }))
    ),
  ];
}

function refusalOf(work: () => unknown): { readonly message: string; readonly cause: unknown } | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    return { message: messageOf(thrown), cause: thrown instanceof Error ? thrown.cause : undefined };
  }
}

function contractProblems({ tags: spec = null, format = null }: WrittenDefinition, refusal: Refusal) {
  return spec === null || format === null ? [] : problemAt([], refusal({ parser: tags({}), format: {} }));
}

function tagProblems(spec: unknown): readonly FieldProblem[] {
  if (!isRecord(spec)) return [];
  const refusal = (some: Fields) => refusalOf(() => tags(some))?.message;
  return Object.entries(spec).flatMap(([kind, names]) => {
    if (!Array.isArray(names)) return problemAt(["tags", kind], refusal({ [kind]: names }));
    const ofKind = refusal({ [kind]: [] });
    if (ofKind !== undefined) return problemAt(["tags", kind], ofKind);
    return names.flatMap((name: unknown, index) =>
      problemAt(["tags", kind, index], refusal({ [kind]: [name] }))
    );
  });
}

function formatProblems(format: unknown, key: string): readonly FieldProblem[] {
  if (!isRecord(format) || isStandardSchema(format)) return [];
  return schemaProblems(format).map(({ path, message }) => ({
    path: ["format", ...path],
    message: `prompt "${key}": the JSON Schema of format is broken${message}`,
  }));
}

function toolProblems(
  tools: readonly unknown[],
  { key, refusal }: { readonly key: string; readonly refusal: Refusal },
): readonly FieldProblem[] {
  const first = new Map<string, unknown>();
  return tools.flatMap((tool, index) => {
    if (tool === null) return [];
    const path = ["tools", index];
    const start = `prompt "${key}": tools[`;
    const alone = refusal({ tools: [tool] });
    if (alone !== undefined) {
      return problemAt(
        path,
        alone.startsWith(`${start}0]`) ? `${start}${index}]${alone.slice(start.length + 2)}` : alone,
      );
    }
    const name = isNamed(tool) ? toolName(tool) : "";
    if (first.has(name)) return problemAt(path, refusal({ tools: [first.get(name), tool] }));
    first.set(name, tool);
    return [];
  });
}

function isNamed(tool: unknown): tool is { readonly name: string } | string {
  return typeof tool === "string" || isRecord(tool) && typeof tool.name === "string";
}

function addonProblems(name: string, value: unknown, refusal: Refusal): readonly FieldProblem[] {
  const path = ["addons", name];
  if (name !== "computerUse" || !isRecord(value)) {
    return problemAt(path, refusal({ addons: { [name]: value } }));
  }
  return Object.entries(value).flatMap(([setting, each]) =>
    problemAt([...path, setting], refusal({ addons: { [name]: { [setting]: each } } }))
  );
}

function handlerProblems(event: string, text: unknown, key: string): readonly FieldProblem[] {
  const path = ["handler", event];
  const refusal = (text: unknown) =>
    refusalOf(() => definedPrompt({ path: key, template: "", handler: { [event]: text } }));
  const found = refusal(text);
  if (!(found?.cause instanceof TemplateError) || typeof text !== "string") {
    return problemAt(path, found?.message);
  }
  const { problems, fields } = templateProblems(text);
  return [
    ...templateMessages(problems, `${key} ${event}`).map((message) => ({ path, message })),
    ...problemAt(path, refusal(fields.map(({ source }) => source).join(""))?.message),
  ];
}

/** The mistakes of a template, in the words of `definePrompt`. */
export function templateMessages(problems: readonly TemplateError[], prompt: string): readonly string[] {
  return problems.map(({ line, column, message }) =>
    `prompt "${prompt}": template ${line}:${column}: ${message}`
  );
}
