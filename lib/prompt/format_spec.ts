import { quoted } from "../parse/template_error.ts";
import type { FormatSpec } from "../parse/template_format_spec.ts";
import { display } from "./display.ts";
import { formatNumber } from "./format_number.ts";
import { padded } from "./padded.ts";
import { RenderError } from "./render_error.ts";

/**
 * The value in the form that a spec asks for (prompts.md 2): a number or bigint as number, everything else as text.
 *
 * @throws {RenderError} when the spec is for the other of the two, or the value cannot be displayed.
 */
export function formatValue(value: unknown, spec: FormatSpec): string {
  return typeof value === "number" || typeof value === "bigint"
    ? formatNumber(value, spec)
    : formatText(value, spec);
}

function formatText(value: unknown, spec: FormatSpec): string {
  if (isForNumbers(spec)) {
    throw new RenderError(`format spec ${quoted(`:${spec.source}`)} needs a number, got ${typeName(value)}`);
  }
  const text = display(value);
  const cut = spec.precision === undefined ? text : firstCodePoints(text, spec.precision);
  const { width, align = "<", fill = spec.isZeroFilled ? "0" : " " } = spec;
  return padded(cut, { width, align, fill });
}

function isForNumbers({ type = "s", sign, isPrefixed, grouping, align }: FormatSpec): boolean {
  return type !== "s" || (sign ?? grouping) !== undefined || isPrefixed || align === "=";
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let at = 0;
  for (let taken = 0; taken < count && at < text.length; taken++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}
