import { PromptError } from "../core/prompt_error.ts";
import { messageOf } from "../core/source_error.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { parseTemplate, TemplateError } from "../parse/template.ts";
import { argumentValues } from "./argument_values.ts";
import { promptProblem } from "./prompt_problem.ts";
import { RenderError } from "./render_error.ts";
import type { Renderer } from "./renderer.ts";
import { templateRenderer } from "./template_renderer.ts";

/** A template, ready to be rendered. */
export interface PromptText {
  readonly vars: readonly string[];
  /** @throws {RenderError} which does not name the prompt. */
  render(args: Readonly<Record<string, unknown>>): string;
}

/**
 * Reads a template of Orrery's own grammar (prompts.md 2).
 *
 * @param path what errors call the prompt
 * @throws {PromptError} `template`, with a TemplateError as its cause
 */
export function templateText(template: string, path: string): PromptText {
  try {
    const parsed = parseTemplate(template);
    let renderer: PromptText["render"] | undefined;
    return { vars: parsed.vars, render: (args) => (renderer ??= templateRenderer(parsed))(args) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { line, column, message } = error;
    throw promptProblem(path, `template ${line}:${column}: ${message}`, { code: "template", cause: error });
  }
}

/** Why a template in a file cannot be read, if so. @param bodyLine where it begins */
export function templateProblems(
  template: string,
  { path, bodyLine }: { readonly path: string; readonly bodyLine: number },
): readonly LineProblem[] {
  try {
    templateText(template, path);
    return [];
  } catch (thrown) {
    const { message, cause } = thrown instanceof PromptError ? thrown : {};
    if (!(cause instanceof TemplateError)) throw thrown;
    return [{ line: bodyLine + cause.line - 1, column: cause.column, message: message ?? "" }];
  }
}

/** A template that a renderer of the user's own reads. @throws {PromptError} `define`, when it does not say its variables. */
export function rendererText(
  template: string,
  { renderer, path }: { readonly renderer: Renderer; readonly path: string },
): PromptText {
  const vars = variablesOf(template, { renderer, path });
  return {
    vars,
    render(args) {
      argumentValues(args, vars); // throws when one is missing
      const text: unknown = rendered(template, { renderer, args });
      if (typeof text === "string") return text;
      throw new RenderError("the renderer must return a string");
    },
  };
}

/** A text that is sent as it is. */
export function literalText(text: string): PromptText {
  return { vars: Object.freeze([]), render: () => text };
}

function variablesOf(
  template: string,
  { renderer, path }: { readonly renderer: Renderer; readonly path: string },
): readonly string[] {
  try {
    const vars: readonly unknown[] = [...renderer.vars?.(template) ?? []];
    if (vars.every((name) => typeof name === "string")) return Object.freeze([...new Set(vars)]);
  } catch (cause) {
    throw promptProblem(path, `vars() of the renderer failed: ${messageOf(cause)}`, { cause });
  }
  throw promptProblem(path, "vars() of the renderer must give names");
}

function rendered(
  template: string,
  { renderer, args }: { readonly renderer: Renderer; readonly args: Readonly<Record<string, unknown>> },
): unknown {
  try {
    return renderer.render(template, args);
  } catch (cause) {
    if (cause instanceof RenderError) throw cause;
    throw new RenderError(`the renderer failed: ${messageOf(cause)}`, { cause });
  }
}
