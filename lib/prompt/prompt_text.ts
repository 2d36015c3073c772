import { isRecord, messageOf, PromptError } from "../core/core.ts";
import {
  type FormatSpec,
  parseFormatSpec,
  parseTemplate,
  quoted,
  type Template,
  type TemplateAccess,
  TemplateError,
  type TemplateField,
} from "../parse/template.ts";
import type { LineProblem } from "../parse/yaml/front_matter.ts";
import { compactJson, display, padded, RenderError } from "./value_text.ts";
import { promptProblem } from "./prompt_problem.ts";
import type { Renderer } from "./prompt.ts";

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

/**
 * The value in the form that a spec asks for (prompts.md 2): a number or bigint as number, everything else as text.
 *
 * @throws {RenderError} when the spec is for the other of the two, or the value cannot be displayed.
 */
function formatValue(value: unknown, spec: FormatSpec): string {
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

/**
 * The values of these variables, in their order. A variable has to be an own property of the arguments: one that is
 * inherited, or undefined, is missing (prompts.md 2).
 *
 * @throws {RenderError} when the arguments are no object, naming a variable that cannot be read, or every one that is missing.
 */
function argumentValues(args: unknown, vars: readonly string[]): unknown[] {
  if (!isRecord(args)) throw new RenderError("arguments must be an object");
  const values: unknown[] = [];
  let isComplete = true;
  for (const name of vars) {
    const value = valueOf(args, name);
    if (value === undefined) isComplete = false;
    values.push(value);
  }
  if (isComplete) return values;
  const missing = vars.filter((_name, index) => values[index] === undefined);
  throw new RenderError(`missing variables: ${missing.join(", ")}`);
}

function valueOf(args: Readonly<Record<string, unknown>>, name: string): unknown {
  try {
    return Object.hasOwn(args, name) ? args[name] : undefined;
  } catch (cause) {
    throw new RenderError(`{${name}}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** @throws {RenderError} when the spec is for text, or for an integer and this is none. */
function formatNumber(value: number | bigint, spec: FormatSpec): string {
  const { type, width } = spec;
  if (type === "s") {
    throw new RenderError(`format spec ${quoted(`:${spec.source}`)} needs a string, got ${typeof value}`);
  }
  const parts = numberParts(value, spec);
  const sign = isNegative(value, spec) ? "-" : spec.sign === "-" ? "" : spec.sign ?? "";
  const head = `${sign}${parts.prefix}`;
  const isZeroFilled = spec.isZeroFilled && parts.integer !== ""; // but not NaN and Infinity
  const { align = isZeroFilled ? "=" : ">", fill = isZeroFilled ? "0" : " " } = spec;
  const space = width - head.length - parts.rest.length;
  if (align !== "=") return padded(head + grouped(parts.integer, spec) + parts.rest, { width, align, fill });
  const integer = fill === "0" ? zeroFilled(parts.integer, { space, spec }) : grouped(parts.integer, spec);
  return head + padded(integer + parts.rest, { width: width - head.length, align, fill });
}

/** Integers have no zero below zero, and without a form of its own a number is as JavaScript prints it; every other form shows its sign. */
function isNegative(value: number | bigint, { type, precision }: FormatSpec): boolean {
  if (value !== 0 || !Object.is(value, -0)) return value < 0;
  return type === undefined ? precision !== undefined : RADIX[type] === undefined;
}

/** The digits of the integer part without their sign, and what stands before and after them. */
interface NumberParts {
  readonly prefix: string;
  readonly integer: string;
  readonly rest: string;
}

const RADIX: Readonly<Record<string, number>> = { b: 2, o: 8, d: 10, x: 16, X: 16 };

function numberParts(value: number | bigint, spec: FormatSpec): NumberParts {
  const { type = "", isPrefixed } = spec;
  const radix = RADIX[type];
  const size = typeof value === "bigint" ? value < 0n ? -value : value : Math.abs(value);
  if (radix === undefined) return splitAtPoint(decimalText(size, spec));
  if (typeof value === "number" && !Number.isInteger(value)) {
    throw new RenderError(`format code "${type}" needs an integer, got ${value}`);
  }
  const digits = (Number.isSafeInteger(size) ? size : BigInt(size)).toString(radix);
  return {
    prefix: isPrefixed && radix !== 10 ? `0${type}` : "",
    integer: type === "X" ? digits.toUpperCase() : digits,
    rest: "",
  };
}

function splitAtPoint(text: string): NumberParts {
  let end = 0;
  while (isDigit(text.charCodeAt(end))) end++;
  return { prefix: "", integer: text.slice(0, end), rest: text.slice(end) };
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function decimalText(value: number | bigint, spec: FormatSpec): string {
  const { type, precision = 6 } = spec;
  const percent = type === "%" ? "%" : "";
  if (typeof value === "number" && !Number.isFinite(value)) return `${value}${percent}`;
  switch (type) {
    case undefined:
      return spec.precision === undefined ? withLongExponent(String(value)) : generalText(value, precision);
    case "e":
      return scientificText(value, precision);
    case "E":
      return scientificText(value, precision).toUpperCase();
    case "g":
      return generalText(value, precision);
    case "G":
      return generalText(value, precision).toUpperCase();
    case "%":
      return `${fixedText(typeof value === "bigint" ? value * 100n : value * 100, precision)}%`;
    default:
      return fixedText(value, precision);
  }
}

// No double has more digits that count, and those of the largest are fewer too.
const DIGITS_OF_DOUBLE = 800;

/** As C's `%g`: so many digits that count, without zeros at the end; scientific when very small or large. */
function generalText(value: number | bigint, precision: number): string {
  const most = typeof value === "bigint" ? String(value).length : DIGITS_OF_DOUBLE;
  const digits = Math.min(Math.max(precision, 1), most); // more would only be zeros, which are dropped
  const scientific = scientificText(value, digits - 1);
  const exponent = Number(scientific.slice(scientific.indexOf("e") + 1));
  if (exponent >= -4 && exponent < digits) return withoutZeros(fixedText(value, digits - 1 - exponent));
  const [mantissa = "", power = ""] = scientific.split("e");
  return `${withoutZeros(mantissa)}e${power}`;
}

function withoutZeros(text: string): string {
  if (!text.includes(".")) return text;
  let end = text.length;
  while (text[end - 1] === "0") end--;
  return text.slice(0, text[end - 1] === "." ? end - 1 : end);
}

function grouped(digits: string, { grouping, type = "" }: FormatSpec): string {
  if (grouping === undefined) return digits;
  const size = groupSize(type);
  let text = digits.slice(-size);
  for (let end = digits.length - size; end > 0; end -= size) {
    text = digits.slice(Math.max(0, end - size), end) + grouping + text;
  }
  return text;
}

function groupSize(type: string): number {
  return "boxX".includes(type) && type !== "" ? 4 : 3;
}

/** Zeros are grouped too, and one more is written where the text would begin with a separator. */
function zeroFilled(
  digits: string,
  { space, spec }: { readonly space: number; readonly spec: FormatSpec },
): string {
  const size = groupSize(spec.type ?? "");
  const separators = spec.grouping === undefined ? 0 : Math.floor((space - 1) / (size + 1));
  return grouped(digits.padStart(space - separators, "0"), spec);
}

// Numbers in decimal, not below zero, ties away from zero. The engine's own toFixed and toExponential do it for as far as
// they go: 100 digits, 1e21, and no bigints. Beyond that a double is taken as the fraction it is, without a rounding.

/** `1234.50`: as many digits after the point as `places` says. */
function fixedText(value: number | bigint, places: number): string {
  if (typeof value === "number" && value < 1e21 && places <= 100) return value.toFixed(places);
  const digits = String(rounded(exactly(value), places)).padStart(places + 1, "0");
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** `1.23e+04`: as many digits after the point as `places` says, at least two in the exponent. */
function scientificText(value: number | bigint, places: number): string {
  const text = typeof value === "number" && places <= 100
    ? value.toExponential(places)
    : exactScientific(exactly(value), places);
  return withLongExponent(text);
}

/** `1e-7` as `1e-07`. */
function withLongExponent(text: string): string {
  const sign = text.length - 2;
  return text[sign - 1] === "e" ? `${text.slice(0, sign + 1)}0${text.slice(sign + 1)}` : text;
}

/** `coefficient` / 10 ** `scale` */
interface Decimal {
  readonly coefficient: bigint;
  readonly scale: number;
}

/** A double is an integer / 2 ** scale, which is that integer * 5 ** scale / 10 ** scale. */
function exactly(value: number | bigint): Decimal {
  if (typeof value === "bigint") return { coefficient: value, scale: 0 };
  let integer = value;
  let scale = 0;
  for (; !Number.isInteger(integer); scale++) integer *= 2;
  return { coefficient: BigInt(integer) * 5n ** BigInt(scale), scale };
}

/** The value in units of 10 ** -places. */
function rounded({ coefficient, scale }: Decimal, places: number): bigint {
  if (places >= scale) return coefficient * 10n ** BigInt(places - scale);
  const unit = 10n ** BigInt(scale - places);
  return (coefficient + unit / 2n) / unit;
}

function exactScientific(decimal: Decimal, places: number): string {
  const exponent = decimal.coefficient === 0n ? 0 : String(decimal.coefficient).length - 1 - decimal.scale;
  const digits = String(rounded(decimal, places - exponent)).padEnd(places + 1, "0");
  const power = exponent + digits.length - 1 - places; // 9.9 may have become 10
  const fraction = digits.slice(1, places + 1);
  return `${digits.charAt(0)}${fraction === "" ? "" : `.${fraction}`}e${power < 0 ? "-" : "+"}${
    Math.abs(power)
  }`;
}
