import { optionsOf } from "./arguments.ts";

// Before `Deno` is what the gadget sees.
const { inspect } = Deno;

/** A `console` whose every method tells the log, one message a call. */
export function gadgetConsole(log: (text: string) => void): Readonly<Record<string, unknown>> {
  let indent = "";
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  const tell = (...given: readonly unknown[]): void => say(formatted(given));
  const say = (text: string): void => log(indent === "" ? text : indented(text, indent));
  const group = (...given: readonly unknown[]): void => {
    if (given.length > 0) tell(...given);
    indent += "  ";
  };
  const elapsed = (label: string): string => {
    const start = starts.get(label);
    return start === undefined
      ? `there is no timer "${label}"`
      : `${label}: ${Math.round(performance.now() - start)}ms`;
  };
  return {
    log: tell,
    info: tell,
    debug: tell,
    warn: tell,
    error: tell,
    trace: (...given: readonly unknown[]) =>
      say([`Trace: ${formatted(given)}`, ...framesOf(new Error())].join("\n")),
    dir: (value: unknown, options: unknown) => say(inspect(value, { ...optionsOf(options), colors: false })),
    dirxml: tell,
    table: (value: unknown) => say(inspect(value)),
    assert: (condition: unknown, ...given: readonly unknown[]) => {
      if (!condition) say(`Assertion failed${given.length === 0 ? "" : `: ${formatted(given)}`}`);
    },
    count: (label: unknown = "default") => {
      const name = String(label);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      say(`${name}: ${counts.get(name)}`);
    },
    countReset: (label: unknown = "default") => void counts.delete(String(label)),
    time: (label: unknown = "default") => void starts.set(String(label), performance.now()),
    timeLog: (label: unknown = "default", ...given: readonly unknown[]) =>
      say([elapsed(String(label)), ...given.length === 0 ? [] : [formatted(given)]].join(" ")),
    timeEnd: (label: unknown = "default") => {
      say(elapsed(String(label)));
      starts.delete(String(label));
    },
    group,
    groupCollapsed: group,
    groupEnd: () => {
      indent = indent.slice(2);
    },
    clear: () => {
      indent = "";
    },
    timeStamp: () => {},
    profile: () => {},
    profileEnd: () => {},
  };
}

function framesOf({ stack = "" }: Error): readonly string[] {
  return stack.split("\n").slice(1);
}

function indented(text: string, indent: string): string {
  return text.split("\n").map((line) => indent + line).join("\n");
}

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
