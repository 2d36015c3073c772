import { messageOf } from "../core/source_error.ts";
import type { Template } from "../parse/template.ts";
import type { TemplateAccess } from "../parse/template_access.ts";
import { quoted } from "../parse/template_error.ts";
import type { TemplateField } from "../parse/template_field.ts";
import { parseFormatSpec } from "../parse/template_format_spec.ts";
import { argumentValues } from "./argument_values.ts";
import { compactJson } from "./compact_json.ts";
import { display } from "./display.ts";
import { formatValue } from "./format_spec.ts";
import { RenderError } from "./render_error.ts";

/** Gives something for the values of a template's variables. */
type Reader<T> = (values: readonly unknown[]) => T;

/** Where the value of a variable is among the values. */
type Places = ReadonlyMap<string, number>;

/**
 * Makes of a template the function that renders it: compiled once, called often. What the values hold is never read as a
 * template again.
 *
 * The function throws a {@linkcode RenderError} when variables are missing (naming all of them), when nothing is where a
 * field looks, and when a value cannot be shown as the field asks for.
 */
export function templateRenderer(template: Template): (args: Readonly<Record<string, unknown>>) => string {
  const { vars } = template;
  const places: Places = new Map(vars.map((name, index) => [name, index]));
  const pieces = template.parts.map((part) => typeof part === "string" ? part : fieldReader(part, places));
  return (args) => {
    const values = argumentValues(args, vars);
    let text = "";
    for (const piece of pieces) text += typeof piece === "string" ? piece : piece(values);
    return text;
  };
}

function fieldReader(field: TemplateField, places: Places): Reader<string> {
  const read = accessReader(field.access, places);
  const show = fieldText(field, places);
  return (values) => {
    try {
      const value = read(values);
      return show === undefined ? typeof value === "string" ? value : display(value) : show(value, values);
    } catch (error) {
      throw new RenderError(`${field.source}: ${messageOf(error)}`, { cause: error });
    }
  };
}

/** Undefined when the field just displays its value. */
function fieldText(
  { conversion, spec }: TemplateField,
  places: Places,
): ((value: unknown, values: readonly unknown[]) => string) | undefined {
  const convert = conversion === undefined ? undefined : CONVERSIONS[conversion];
  if (spec === undefined) return convert;
  const converted = convert ?? ((value: unknown) => value);
  if (!("parts" in spec)) return (value) => formatValue(converted(value), spec);
  const readSpec = specReader(spec.parts, places);
  return (value, values) => {
    const source = readSpec(values);
    const format = parseFormatSpec(source);
    if (format === undefined) throw new RenderError(`bad format spec ${quoted(`:${source}`)}`);
    return formatValue(converted(value), format);
  };
}

const CONVERSIONS: Readonly<Record<string, (value: unknown) => string>> = {
  s: display,
  j: compactJson,
  r: compactJson,
  a: (value) => compactJson(value).replace(/[^\0-\x7f]/g, escaped),
};

/** A UTF-16 unit as JSON may write it. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function specReader(parts: readonly (string | TemplateAccess)[], places: Places): Reader<string> {
  const pieces = parts.map((part) => typeof part === "string" ? part : accessReader(part, places));
  return (values) =>
    pieces.map((piece) => typeof piece === "string" ? piece : display(piece(values))).join("");
}

function accessReader({ source, name, keys }: TemplateAccess, places: Places): Reader<unknown> {
  const index = places.get(name) ?? -1;
  if (keys.length === 0) return (values) => values[index];
  return (values) => {
    let value = values[index];
    for (const key of keys) {
      value = readEntry(value, key);
      if (value === undefined) throw new RenderError(`no ${JSON.stringify(key)} in {${source}}`);
    }
    return value;
  };
}

/** @throws {RenderError} when a getter throws */
function readEntry(value: unknown, key: string): unknown {
  try {
    return entryOf(value, key);
  } catch (cause) {
    throw new RenderError(`cannot read ${JSON.stringify(key)}: ${messageOf(cause)}`, { cause });
  }
}

/** An entry of a map, else an own property; undefined when there is neither. */
function entryOf(value: unknown, key: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Map) {
    if (value.has(key)) return value.get(key);
    const number = Number(key);
    if (String(number) === key && value.has(number)) return value.get(number);
  }
  const object: object = Object(value);
  return Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
}
