import { messageOf } from "../core/source_error.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { TemplateError } from "../parse/template_error.ts";

/** A definition that could not be had, and where its parts are written. */
export interface LocatedDefinition {
  /** By the names of `definePrompt`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Defines a prompt of some of the fields only. */
  define(fields: Readonly<Record<string, unknown>>): unknown;
  /** The line of a field; undefined when it is not written. */
  lineOf(field: string): number | undefined;
  /** The line that the template begins in. */
  readonly templateLine: number;
  /** What the errors of the template begin with; those of a handler's text begin with something else. */
  readonly templateErrors: string;
}

/** An error of a definition in its file: in the line of the template, else in that of the field that cannot be had alone, else in the first. */
export function locatedProblem(thrown: unknown, definition: LocatedDefinition): LineProblem {
  const { fields, define, lineOf, templateLine, templateErrors } = definition;
  const message = messageOf(thrown);
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof TemplateError && message.startsWith(templateErrors)) {
    return { line: templateLine + cause.line - 1, message };
  }
  const guilty = Object.entries(fields).find(([name, value]) =>
    value !== undefined && isRefused(() => define({ [name]: value }))
  );
  return { line: (guilty && lineOf(guilty[0])) ?? 1, message };
}

function isRefused(define: () => unknown): boolean {
  try {
    define();
    return false;
  } catch {
    return true;
  }
}
