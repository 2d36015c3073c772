const { inspect } = Deno;

/** The text of what is handed to `console.log`: `%s` and its like in the first text, everything else as `Deno.inspect` shows it. */
export function formatted(given: readonly unknown[]): string {
  const [first, ...rest] = given;
  if (typeof first !== "string" || rest.length === 0) return given.map(shown).join(" ");
  let used = 0;
  const text = first.replace(/%([sdifjoOc%])/g, (whole: string, letter: string) => {
    if (letter === "%") return "%";
    if (used >= rest.length) return whole;
    return directive(letter, rest[used++]);
  });
  return [text, ...rest.slice(used).map(shown)].join(" ");
}

function directive(letter: string, value: unknown): string {
  switch (letter) {
    case "s":
      return typeof value === "object" && value !== null ? inspect(value, { depth: 1 }) : textOf(value);
    case "d":
    case "i": {
      if (typeof value === "bigint") return `${value}n`;
      const number = typeof value === "object" || typeof value === "symbol" ? NaN : Number(value);
      return String(letter === "i" ? Math.trunc(number) : number);
    }
    case "f":
      return String(typeof value === "symbol" ? NaN : Number.parseFloat(String(value)));
    case "j":
      return JSON.stringify(value) ?? "undefined";
    case "c":
      return "";
    default:
      return inspect(value);
  }
}

function textOf(value: unknown): string {
  return Object.is(value, -0) ? "-0" : typeof value === "bigint" ? `${value}n` : String(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : inspect(value);
}
