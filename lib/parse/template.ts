import type { TemplateAccess } from "./template_access.ts";
import { TemplateError } from "./template_error.ts";
import { type TemplateField, templateFieldAt } from "./template_field.ts";

export { TemplateError };

/** A template, read: texts with their doubled braces undone, and fields. */
export interface Template {
  readonly parts: readonly (string | TemplateField)[];
  /** The variables of all fields, those inside format specs too, in order of first appearance. */
  readonly vars: readonly string[];
}

/**
 * Reads a template (prompts.md 2), in time linear in its length.
 *
 * @throws {TemplateError} at the first brace that is wrong.
 */
export function parseTemplate(source: string): Template {
  const parts: (string | TemplateField)[] = [];
  const vars = new Set<string>();
  const brace = /[{}]/g;
  let text = "";
  let from = 0;
  for (let match = brace.exec(source); match !== null; match = brace.exec(source)) {
    const at = match.index;
    text += source.slice(from, at);
    if (source[at + 1] === source[at]) {
      text += source[at];
      from = at + 2;
    } else {
      const field = fieldAt(source, at);
      if (text !== "") parts.push(text);
      parts.push(field);
      for (const { name } of accessesOf(field)) vars.add(name);
      text = "";
      from = at + field.source.length;
    }
    brace.lastIndex = from;
  }
  text += source.slice(from);
  if (text !== "") parts.push(text);
  return Object.freeze({ parts: Object.freeze(parts), vars: Object.freeze([...vars]) });
}

function fieldAt(source: string, offset: number): TemplateField {
  if (source[offset] === "{") return templateFieldAt(source, offset);
  throw new TemplateError(`single "}": write "}}" for a literal brace`, { source, offset });
}

function accessesOf({ access, spec }: TemplateField): readonly TemplateAccess[] {
  if (spec === undefined || !("parts" in spec)) return [access];
  return [access, ...spec.parts.filter((part) => typeof part !== "string")];
}
