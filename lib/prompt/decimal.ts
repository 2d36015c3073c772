// Numbers in decimal, not below zero, ties away from zero. The engine's own toFixed and toExponential do it for as far as
// they go: 100 digits, 1e21, and no bigints. Beyond that a double is taken as the fraction it is, without a rounding.

/** `1234.50`: as many digits after the point as `places` says. */
export function fixedText(value: number | bigint, places: number): string {
  if (typeof value === "number" && value < 1e21 && places <= 100) return value.toFixed(places);
  const digits = String(rounded(exactly(value), places)).padStart(places + 1, "0");
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** `1.23e+04`: as many digits after the point as `places` says, at least two in the exponent. */
export function scientificText(value: number | bigint, places: number): string {
  const text = typeof value === "number" && places <= 100
    ? value.toExponential(places)
    : exactScientific(exactly(value), places);
  return withLongExponent(text);
}

/** `1e-7` as `1e-07`. */
export function withLongExponent(text: string): string {
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
