import { didYouMean } from "../../core/core.ts";
import type { Argument, CommandSpec, Flag, ParsedCommand } from "./flag.ts";
import { UsageError } from "../../service/exit_code.ts";

/**
 * Reads the words behind a command by its table: flags before or after the other words, `--flag value`, `--flag=value`,
 * `-f value`, `-fvalue`, several letters together, `--` before words that begin with `-`. A value that may be left out
 * (`--allow-read`) is written with `=` only. With `--help` among the words nothing else is looked at.
 *
 * @throws {UsageError} with everything that is wrong.
 */
export function parseFlags<const Spec extends CommandSpec>(
  spec: Spec,
  args: readonly string[],
): ParsedCommand<Spec> {
  const reader = new FlagReader(spec);
  reader.read(args);
  const flags = reader.values() as ParsedCommand<Spec>["flags"];
  if (reader.help) return { words: [], flags, wantsHelp: true };
  const problems = [...reader.problems, ...wordProblems(spec, reader, flags)];
  if (problems.length > 0) throw new UsageError(problems, spec.name);
  return { words: reader.words, flags, wantsHelp: false };
}

type Value = boolean | number | string | readonly (string | true)[] | undefined;

class FlagReader {
  readonly words: string[] = [];
  readonly problems: string[] = [];
  help = false;
  /** Words that stand behind a flag that is unknown, and may be its value. */
  strayValues = 0;
  /** The first word that stands right behind a flag whose list is written with `=`. */
  behindGrant?: { readonly flag: string; readonly word: string };
  readonly #spec: CommandSpec;
  readonly #values = new Map<string, Value>();
  #rest: string[] = [];

  constructor(spec: CommandSpec) {
    this.#spec = spec;
  }

  read(args: readonly string[]): void {
    this.#rest = [...args].reverse();
    for (let word = this.#rest.pop(); word !== undefined; word = this.#rest.pop()) {
      if (word === "--") {
        this.words.push(...this.#rest.reverse());
        return;
      }
      if (word.startsWith("--")) this.#readLong(word);
      else if (word.startsWith("-") && word !== "-") this.#readShort(word);
      else this.words.push(word);
    }
  }

  values(): Record<string, Value> {
    const values: Record<string, Value> = {};
    for (const flag of this.#spec.flags) values[flag.name] = this.#values.get(flag.name) ?? unset(flag);
    return values;
  }

  #readLong(word: string): void {
    const equals = word.indexOf("=");
    const name = equals === -1 ? word.slice(2) : word.slice(2, equals);
    const flag = this.#named(name);
    if (flag === undefined) {
      if (equals === -1 && isWord(this.#rest.at(-1))) this.strayValues++;
      return this.#unknown(`--${name}`, didYouMeanFlag(name, this.#spec.flags));
    }
    this.#take(flag, `--${name}`, equals === -1 ? undefined : word.slice(equals + 1));
  }

  #readShort(word: string): void {
    for (let at = 1; at < word.length; at++) {
      const letter = word.charAt(at);
      const flag = this.#spec.flags.find(({ short }) => short === letter);
      if (flag === undefined) {
        return this.#unknown(at === 1 ? word : `-${letter} in ${word}`, this.#longFormHint(word));
      }
      const attached = word.slice(at + 1).replace(/^=/, "");
      if (flag.kind !== "switch") {
        return this.#take(flag, `-${letter}`, attached === "" ? undefined : attached);
      }
      if (word.charAt(at + 1) === "=") return this.#take(flag, `-${letter}`, attached);
      this.#take(flag, `-${letter}`, undefined);
    }
  }

  #named(name: string): Flag | undefined {
    return this.#spec.flags.find((flag) => flag.name === name);
  }

  /** `-json` for `--json`. */
  #longFormHint(word: string): string {
    const name = word.slice(1).split("=", 1)[0] ?? "";
    return this.#named(name) !== undefined ? ` Did you mean "--${name}"?` : "";
  }

  #unknown(shown: string, hint: string): void {
    this.problems.push(`Unknown flag ${shown}.${hint}`);
  }

  #take(flag: Flag, shown: string, attached: string | undefined): void {
    if (flag.kind === "switch") return this.#takeSwitch(flag, shown, attached);
    if (flag.kind === "grant") return this.#takeGrant(flag, attached);
    const text = attached ?? this.#nextValue();
    if (text === undefined || text === "") {
      this.problems.push(
        `${shown} needs a value: ${shown} ${flag.value ?? "VALUE"}${
          text === undefined ? this.#dashHint(flag) : ""
        }`,
      );
    } else if (flag.kind === "list") this.#add(flag, shown, text.split(",").filter((item) => item !== ""));
    else if (flag.kind === "texts") this.#add(flag, shown, [text]);
    else this.#takeOne(flag, shown, text);
  }

  /** The next word, unless it is a flag: a path that begins with `-` is written `--output=-path`. */
  #nextValue(): string | undefined {
    const next = this.#rest.at(-1);
    return next === undefined || (next.startsWith("-") && next !== "-" && !isNumber(next))
      ? undefined
      : this.#rest.pop();
  }

  /** The next word is no flag that there is: then it was meant for the value. */
  #dashHint({ name }: Flag): string {
    const next = this.#rest.at(-1);
    if (next === undefined || !next.startsWith("-") || next === "--" || this.#isKnown(next)) return "";
    this.#rest.pop();
    return `; a value that begins with - is written with =, so: --${name}=${next}`;
  }

  #isKnown(word: string): boolean {
    if (word.startsWith("--")) return this.#named(word.slice(2).split("=", 1)[0] ?? "") !== undefined;
    return this.#spec.flags.some(({ short }) => short === word.charAt(1));
  }

  #takeSwitch(flag: Flag, shown: string, attached: string | undefined): void {
    if (attached !== undefined) this.problems.push(`${shown} takes no value; found "${attached}"`);
    if (flag.name === "help") this.help = true;
    this.#values.set(flag.name, true);
  }

  /** As written: lib/policy/policy_settings.ts divides the lists and checks them. */
  #takeGrant(flag: Flag, attached: string | undefined): void {
    const before = this.#values.get(flag.name);
    this.#values.set(flag.name, [...(Array.isArray(before) ? before : []), attached ?? true]);
    const word = this.#rest.at(-1);
    if (attached === undefined && word !== undefined && !word.startsWith("-")) {
      this.behindGrant ??= { flag: `--${flag.name}`, word };
    }
  }

  #takeOne(flag: Flag, shown: string, text: string): void {
    if (this.#values.has(flag.name)) this.problems.push(`${shown} is given twice`);
    else if (flag.choices !== undefined && !flag.choices.includes(text)) {
      const near = didYouMean(text, flag.choices);
      this.problems.push(`${shown} must be one of ${flag.choices.join(", ")}; found "${text}".${near}`);
    } else if (flag.kind === "text") this.#values.set(flag.name, text);
    else this.#takeNumber(flag, shown, text);
  }

  #takeNumber(flag: Flag, shown: string, text: string): void {
    const value = isNumber(text) ? Number(text) : NaN;
    const wanted = wantedNumber(flag, value);
    if (wanted === undefined) this.#values.set(flag.name, value);
    else this.problems.push(`${shown} must be ${wanted}; found "${text}"`);
  }

  #add(flag: Flag, shown: string, items: readonly string[]): void {
    if (items.length === 0) this.problems.push(`${shown} needs a value: ${shown} ${flag.value ?? "VALUE"}`);
    const before = this.#values.get(flag.name);
    this.#values.set(flag.name, [...(Array.isArray(before) ? before : []), ...items]);
  }
}

/** What would have been right; undefined for a value that is. */
function wantedNumber({ kind }: Flag, value: number): string | undefined {
  if (kind === "count") {
    return Number.isSafeInteger(value) && value >= 1 ? undefined : "a whole number from 1";
  }
  if (!Number.isFinite(value)) return kind === "number" ? "a number from 0" : "a number of seconds above 0";
  if (kind === "number") return value >= 0 ? undefined : "a number from 0";
  return value > 0 ? undefined : "a number of seconds above 0";
}

function unset(flag: Flag): Value {
  if (flag.kind === "switch") return false;
  return flag.kind === "list" || flag.kind === "texts" || flag.kind === "grant" ? [] : undefined;
}

function isWord(text: string | undefined): boolean {
  return text !== undefined && (text === "-" || !text.startsWith("-"));
}

function isNumber(text: string): boolean {
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text);
}

function didYouMeanFlag(name: string, known: readonly Flag[]): string {
  return didYouMean(`--${name}`, known.map((flag) => `--${flag.name}`));
}

/** What a word of a command is; the last one may be there several times. */
export function argumentAt({ arguments: all }: CommandSpec, index: number): Argument | undefined {
  const last = all.at(-1);
  return all[index] ?? (last?.many === true ? last : undefined);
}

function wordProblems(
  spec: CommandSpec,
  { words, strayValues, behindGrant }: Pick<FlagReader, "words" | "strayValues" | "behindGrant">,
  flags: Readonly<Record<string, unknown>>,
): string[] {
  const missing = spec.arguments.slice(words.length)
    .find(({ required, unless = "" }) => required && flags[unless] === undefined);
  if (missing !== undefined) return [`orrery ${spec.name} needs ${missing.name}: ${argumentText(missing)}`];
  const last = spec.arguments.at(-1);
  const problems = words.flatMap((word, index) => wordProblem(argumentAt(spec, index), word));
  const hint = behindGrant === undefined
    ? ""
    : ` A list is written with =, so: ${behindGrant.flag}=${behindGrant.word}`;
  const isOwnWord = last === undefined || (last.required && last.many !== true) || last.choices !== undefined;
  if (behindGrant !== undefined && !isOwnWord) {
    // As a word of the command it would be no mistake, while the flag without its list means everything.
    const { flag, word } = behindGrant;
    return [
      ...problems,
      `found "${word}" behind ${flag}.${hint}; a word of the command goes before the flag, or behind --`,
    ];
  }
  if (last?.many === true) return problems;
  const extra = words[spec.arguments.length];
  if (extra === undefined || words.length - spec.arguments.length <= strayValues) return problems;
  return [
    ...problems,
    `orrery ${spec.name} takes ${countOf(spec.arguments)}; found "${extra}" too.${hint}`,
  ];
}

function wordProblem(argument: Argument | undefined, word: string): string[] {
  if (argument === undefined) return [];
  // Such as a variable of a shell that is not set; words that are joined may be left out.
  const isJoined = argument.many === true && !argument.required;
  if (word === "" && !isJoined) {
    return [`${argument.name} is given as an empty word. ${argument.name}: ${argumentText(argument)}`];
  }
  if (argument.choices === undefined || argument.choices.includes(word)) return [];
  if (argument.choices.length === 1) {
    return [`${argument.name} must be ${argument.choices[0]}; found "${word}".`];
  }
  const near = didYouMean(word, argument.choices);
  return [`${argument.name} must be one of ${argument.choices.join(", ")}; found "${word}".${near}`];
}

/** What a word has to be. */
export function argumentText({ help, choices }: Argument): string {
  return choices === undefined ? help : `${help} One of ${choices.join(", ")}.`;
}

function countOf(words: readonly Argument[]): string {
  if (words.length === 0) return "no words";
  return words.map((word) => word.name).join(" and ");
}

/** Whether a word of the command line names an agent file (cli.md). */
export function isAgentWord(word: string): boolean {
  return /\.agent\.ya?ml$/i.test(word);
}
