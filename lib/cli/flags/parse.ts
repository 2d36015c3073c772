import { didYouMean } from "../../core/core.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import type { Argument, CommandSpec, Flag, ParsedCommand } from "./flag.ts";
import { UsageError } from "../../service/exit_code.ts";

/**
 * Reads the words behind a command by its table: flags before or after the other words, `--flag value`, `--flag=value`,
 * `-f value`, `-fvalue`, several letters together, `--` before words that begin with `-`. A value that may be left out
 * (`--allow-read`) is written with `=` only. With `--help` among the words nothing else is looked at.
 *
 * @param kinds of files, which words may name
 * @throws {UsageError} with everything that is wrong.
 */
export function parseFlags<const Spec extends CommandSpec>(
  spec: Spec,
  args: readonly string[],
  kinds: readonly Pick<Kind, "file" | "show" | "list">[] = [],
): ParsedCommand<Spec> {
  const { words, values, problems, ...read } = readArguments(spec, args);
  const all = Object.fromEntries(spec.flags.map((flag) => [flag.name, values.get(flag.name) ?? unset(flag)]));
  const flags = all as ParsedCommand<Spec>["flags"];
  if (all.help === true) return { words: [], flags, wantsHelp: true };
  problems.push(...wordProblems(spec, { words, kinds, ...read }, flags));
  if (problems.length > 0) throw new UsageError(problems, spec.name);
  return { words, flags, wantsHelp: false };
}

type Value = boolean | number | string | readonly (string | true)[] | undefined;

/** What was typed, before it is known whether the words are as many as there are to be. */
interface ReadArguments {
  readonly words: string[];
  readonly values: ReadonlyMap<string, Value>;
  readonly problems: string[];
  /** Words that stand behind a flag that is unknown, and may be its value. */
  readonly strayValues: number;
  /** The first word that stands right behind a flag whose list is written with `=`. */
  readonly behindGrant?: { readonly flag: string; readonly word: string };
}

function readArguments(spec: CommandSpec, args: readonly string[]): ReadArguments {
  const words: string[] = [];
  const values = new Map<string, Value>();
  const problems: string[] = [];
  const rest = [...args].reverse();
  let strayValues = 0;
  let behindGrant: ReadArguments["behindGrant"];

  const take = (flag: Flag, shown: string, attached: string | undefined): void => {
    const { name, kind, value = "VALUE", choices } = flag;
    const say = (problem: string) => void problems.push(`${shown} ${problem}`);
    const before = values.get(name);
    const add = (items: readonly (string | true)[]) =>
      void values.set(name, [...(Array.isArray(before) ? before : []), ...items]);
    if (kind === "switch") {
      if (attached !== undefined) say(`takes no value; found "${attached}"`);
      return void values.set(name, true);
    }
    if (kind === "grant") { // as written: lib/policy/policy_settings.ts divides the lists and checks them
      add([attached ?? true]);
      const word = rest.at(-1);
      const isBehind = attached === undefined && word !== undefined && !word.startsWith("-");
      if (isBehind) behindGrant ??= { flag: `--${name}`, word };
      return;
    }
    const text = attached ?? nextValue();
    const items = kind === "list" ? (text ?? "").split(",").filter((item) => item !== "") : [text ?? ""];
    if (text === undefined || items.length === 0 || items[0] === "") {
      say(`needs a value: ${shown} ${value}${text === undefined ? dashHint(name) : ""}`);
    } else if (kind === "list" || kind === "texts") add(items);
    else if (values.has(name)) say("is given twice");
    else if (choices !== undefined && !choices.includes(text)) {
      say(`must be one of ${choices.join(", ")}; found "${text}".${didYouMean(text, choices)}`);
    } else if (kind === "text") values.set(name, text);
    else {
      const number = NUMBER.test(text) ? Number(text) : NaN;
      const { wanted, fits } = NUMBERS[kind];
      if (Number.isFinite(number) && fits(number)) values.set(name, number);
      else say(`must be ${wanted}; found "${text}"`);
    }
  };

  /** The next word, unless it is a flag: a path that begins with `-` is written `--output=-path`. */
  const nextValue = (): string | undefined => {
    const next = rest.at(-1);
    return next === undefined || !(isWord(next) || NUMBER.test(next)) ? undefined : rest.pop();
  };

  /** The next word is no flag that there is: then it was meant for the value. */
  const dashHint = (name: string): string => {
    const next = rest.at(-1);
    const form = next?.startsWith("--") ? next.split("=", 1)[0] : next?.slice(0, 2);
    if (next === undefined || next === "--" || flagOf(form, spec) !== undefined) return "";
    rest.pop();
    return `; a value that begins with - is written with =, so: --${name}=${next}`;
  };

  const readLong = (word: string): void => {
    const [form = ""] = word.split("=", 1);
    const flag = flagOf(form, spec);
    if (flag !== undefined) return take(flag, form, form === word ? undefined : word.slice(form.length + 1));
    if (form === word && isWord(rest.at(-1))) strayValues++;
    problems.push(`Unknown flag ${form}.${didYouMean(form, spec.flags.map(({ name }) => `--${name}`))}`);
  };

  const readShort = (word: string): void => {
    for (let at = 1; at < word.length; at++) {
      const form = `-${word.charAt(at)}`;
      const flag = flagOf(form, spec);
      if (flag === undefined) {
        const long = `-${word.split("=", 1)[0]}`; // -json for --json
        const hint = flagOf(long, spec) === undefined ? "" : ` Did you mean "${long}"?`;
        return void problems.push(`Unknown flag ${at === 1 ? word : `${form} in ${word}`}.${hint}`);
      }
      const attached = word.slice(at + 1).replace(/^=/, "");
      if (flag.kind !== "switch") return take(flag, form, attached === "" ? undefined : attached);
      if (word.charAt(at + 1) === "=") return take(flag, form, attached);
      take(flag, form, undefined);
    }
  };

  for (let word = rest.pop(); word !== undefined; word = rest.pop()) {
    if (word === "--") words.push(...rest.splice(0).reverse());
    else if (word.startsWith("--")) readLong(word);
    else if (isWord(word)) words.push(word);
    else readShort(word);
  }
  return { words, values, problems, strayValues, behindGrant };
}

const NUMBER = /^-?[0-9]+(\.[0-9]+)?$/;

const NUMBERS = {
  count: { wanted: "a whole number from 1", fits: (n: number) => Number.isSafeInteger(n) && n >= 1 },
  number: { wanted: "a number from 0", fits: (n: number) => n >= 0 },
  seconds: { wanted: "a number of seconds above 0", fits: (n: number) => n > 0 },
};

function unset({ kind }: Flag): Value {
  if (kind === "switch") return false;
  return kind === "list" || kind === "texts" || kind === "grant" ? [] : undefined;
}

function isWord(text: string | undefined): boolean {
  return text !== undefined && (text === "-" || !text.startsWith("-"));
}

/** The flag that is typed like this: `--output`, `-o`. */
export function flagOf(form: string | undefined, { flags }: CommandSpec): Flag | undefined {
  return flags.find((flag) => form !== undefined && typedForms(flag).includes(form));
}

/** The forms of a flag as they are typed. */
export function typedForms({ name, short }: Flag): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

/** What a word of a command is; the last one may be there several times. */
export function argumentAt({ arguments: all }: CommandSpec, index: number): Argument | undefined {
  const last = all.at(-1);
  return all[index] ?? (last?.many === true ? last : undefined);
}

function wordProblems(
  spec: CommandSpec,
  { words, kinds, strayValues, behindGrant }:
    & Pick<ReadArguments, "words" | "strayValues" | "behindGrant">
    & { readonly kinds: readonly Pick<Kind, "file" | "show" | "list">[] },
  flags: Readonly<Record<string, unknown>>,
): string[] {
  const missing = spec.arguments.slice(words.length)
    .find(({ required, unless = "" }) => required && flags[unless] === undefined);
  if (missing !== undefined) return [`orrery ${spec.name} needs ${missing.name}: ${argumentText(missing)}`];
  const last = spec.arguments.at(-1);
  const problems = words.flatMap((word, index) => wordProblem(argumentAt(spec, index), word, kinds));
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
  const takes = spec.arguments.map(({ name }) => name).join(" and ") || "no words";
  return [...problems, `orrery ${spec.name} takes ${takes}; found "${extra}" too.${hint}`];
}

function wordProblem(
  argument: Argument | undefined,
  word: string,
  kinds: readonly Pick<Kind, "file" | "show" | "list">[],
): string[] {
  if (argument === undefined) return [];
  // Such as a variable of a shell that is not set; words that are joined may be left out.
  const isJoined = argument.many === true && !argument.required;
  if (word === "" && !isJoined) {
    return [`${argument.name} is given as an empty word. ${argument.name}: ${argumentText(argument)}`];
  }
  const { name, choices, ofKinds } = argument;
  const isOfKind = kinds.some(({ file, show, list }) =>
    show !== undefined && file?.word === word || list !== undefined && `${file?.word}s` === word
  );
  if (ofKinds && isOfKind) return [];
  if (choices === undefined || choices.includes(word)) return [];
  return [`${name} must be one of ${choices.join(", ")}; found "${word}".${didYouMean(word, choices)}`];
}

/** What a word has to be. */
export function argumentText({ help, choices }: Argument): string {
  return choices === undefined ? help : `${help} One of ${choices.join(", ")}.`;
}

/** @param also what else is wrong @throws {UsageError} with every flag that was typed and that the subject does not take */
export function refuseFlags(
  spec: CommandSpec,
  typed: Readonly<Record<string, unknown>>,
  subject: string,
  also: readonly string[] = [],
): void {
  const problems = refusedFlags(spec, typed, subject);
  if (problems.length + also.length > 0) throw new UsageError([...problems, ...also], spec.name);
}

/** A line for every flag that was typed and that the subject does not take. */
export function refusedFlags(
  { flags }: CommandSpec,
  typed: Readonly<Record<string, unknown>>,
  subject: string,
): readonly string[] {
  return flags.flatMap(({ name, not }) => {
    const why = isTyped(typed[name]) ? not?.[subject] : undefined;
    return why === undefined ? [] : [`--${name} ${why}`];
  });
}

function isTyped(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}
