import { quoted } from "../parse/template_error.ts";
import type { FormatSpec } from "../parse/template_format_spec.ts";
import { fixedText, scientificText, withLongExponent } from "./decimal.ts";
import { padded } from "./padded.ts";
import { RenderError } from "./render_error.ts";

/** @throws {RenderError} when the spec is for text, or for an integer and this is none. */
export function formatNumber(value: number | bigint, spec: FormatSpec): string {
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
