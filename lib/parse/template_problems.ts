import { TemplateError } from "./template_error.ts";
import { type TemplateField, templateFieldAt } from "./template_field.ts";

/** What is wrong with a template, and what is not. */
export interface TemplateProblems {
  /** In the order of the text. */
  readonly problems: readonly TemplateError[];
  /** The fields that can be read. */
  readonly fields: readonly TemplateField[];
}

/** After so many mistakes the rest of a text is not looked at. */
const MOST = 20;

/**
 * Every mistake in a template, where `parseTemplate` throws the first one. What stands inside of a field that is wrong is read on its own;
 * the brace that closes such a field, with others right behind it, is part of that one mistake.
 */
export function templateProblems(source: string): TemplateProblems {
  const problems: TemplateError[] = [];
  const fields: TemplateField[] = [];
  const told = new Set<string>();
  const ends = new Set<number>();
  const brace = /[{}]/g;
  for (let match = brace.exec(source); match !== null && problems.length < MOST; match = brace.exec(source)) {
    const at = match.index;
    if (ends.has(at)) brace.lastIndex = behindBraces(source, at);
    else if (source[at + 1] === source[at]) brace.lastIndex = at + 2;
    else {
      const read = fieldAt(source, at);
      if (read instanceof TemplateError) {
        const place = `${read.line}:${read.column}`; // a mistake of a field inside of a format spec is found with that, too
        if (!told.has(place)) problems.push(read);
        told.add(place);
        ends.add(endOfField(source, at) ?? at);
        brace.lastIndex = at + 1;
      } else {
        fields.push(read);
        brace.lastIndex = at + read.source.length;
      }
    }
  }
  return { problems, fields };
}

function fieldAt(source: string, offset: number): TemplateField | TemplateError {
  if (source[offset] === "}") {
    return new TemplateError(`single "}": write "}}" for a literal brace`, { source, offset });
  }
  try {
    return templateFieldAt(source, offset);
  } catch (thrown) {
    if (thrown instanceof TemplateError) return thrown;
    throw thrown;
  }
}

/** The brace that closes the field that opens here; undefined when none does. */
function endOfField(source: string, start: number): number | undefined {
  const brace = /[{}]/g;
  brace.lastIndex = start;
  let depth = 0;
  for (let match = brace.exec(source); match !== null; match = brace.exec(source)) {
    depth += match[0] === "{" ? 1 : -1;
    if (depth <= 0) return match.index;
  }
  return undefined;
}

function behindBraces(source: string, start: number): number {
  let end = start;
  while (source[end] === "}") end++;
  return end;
}
