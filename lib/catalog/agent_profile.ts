import { isText } from "../parse/yaml/check_fields.ts";
import {
  didYouMeanNames,
  type Effort,
  EFFORT_RULE,
  effortFrom,
  EFFORTS,
  isRecord,
  nearestNames,
} from "../core/core.ts";
import { type AgentLimits, DEFAULT_LIMITS, LIMIT_NAMES, limitProblem } from "../prompt/limits.ts";

/** An agent of `orrery.yaml` (prompts.md 10), complete. */
export interface AgentProfile {
  readonly name: string;
  readonly model: string;
  /** How hard it thinks, where the prompt says nothing of it. */
  readonly effort?: Effort;
  /** The path of a prompt; null when there is a `system`. */
  readonly systemPrompt: string | null;
  /** A text that is said as it is; null when there is a `systemPrompt`. */
  readonly system: string | null;
  readonly limits: AgentLimits;
  readonly modelArgs: Readonly<Record<string, unknown>>;
}

/** Something wrong with an entry, at the key that a path leads to. */
export interface EntryProblem {
  readonly path: readonly string[];
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;

const DEFAULT_KEYS: readonly string[] = ["model", "effort", "systemPrompt", "system", "limits", "modelArgs"];
const KEYS: readonly string[] = ["name", ...DEFAULT_KEYS];

/** What is wrong with the values that lie under every entry. */
export function defaultsProblems(defaults: Fields): readonly EntryProblem[] {
  return fieldProblems(defaults, { known: DEFAULT_KEYS, say: "agentDefaults: " });
}

/** What an entry says, also when no agent can be made of it. */
export interface ReadEntry {
  /** Undefined when it has none that can be used. */
  readonly name: string | undefined;
  /** How problems with it begin. */
  readonly say: string;
  /** The path of a prompt, as far as one is given. */
  readonly systemPrompt: string | null;
}

/** An agent of an entry, or everything that is wrong with it. @param label names an entry without a name */
export function agentProfile(
  entry: unknown,
  { defaults, label }: { readonly defaults: Fields; readonly label: string },
): ReadEntry & ({ readonly profile: AgentProfile } | { readonly problems: readonly EntryProblem[] }) {
  if (!isRecord(entry)) {
    const message = `${label} must be a mapping, or the name of a YAML file`;
    return { name: undefined, say: `${label}: `, systemPrompt: null, problems: [{ path: [], message }] };
  }
  const name = typeof entry.name === "string" && entry.name !== "" ? entry.name : undefined;
  const say = name === undefined ? `${label}: ` : `agent ${JSON.stringify(name)}: `;
  const wrong = fieldProblems(entry, { known: KEYS, say });
  const own = withoutWrong(entry, wrong);
  const whole = merged(withoutRivals(withoutWrong(defaults, defaultsProblems(defaults)), own), own);
  const model = textOf(whole.model);
  const [systemPrompt, system] = [textOf(whole.systemPrompt), textOf(whole.system)];
  const missing = missingProblems(whole, { entry, defaults, say });
  const problems = [...nameProblems(entry, say), ...missing, ...wrong];
  const read = { name, say, systemPrompt };
  if (problems.length > 0 || name === undefined || model === null) return { ...read, problems };
  const limits = { ...DEFAULT_LIMITS, ...withoutNulls(whole.limits) };
  const modelArgs = isRecord(whole.modelArgs) ? whole.modelArgs : {};
  const effort = effortFrom(whole.effort);
  return { ...read, profile: { name, model, effort, systemPrompt, system, limits, modelArgs } };
}

function nameProblems({ name = null }: Fields, say: string): readonly EntryProblem[] {
  if (name === null || name === "") return [{ path: [], message: `${say}name is required` }];
  return typeof name === "string" ? [] : [{ path: ["name"], message: `${say}name must be text` }];
}

/** What is not there, unless it is there and wrong, or misspelt: then that is told. */
function missingProblems(
  whole: Fields,
  { entry, defaults, say }: { readonly entry: Fields; readonly defaults: Fields; readonly say: string },
): readonly EntryProblem[] {
  const meant = new Set([...meantKeys(entry, KEYS), ...meantKeys(defaults, DEFAULT_KEYS)]);
  const isMissing = (key: string) => textOf(whole[key]) === null;
  const problems: EntryProblem[] = [];
  if (isMissing("model") && !meant.has("model")) {
    problems.push({ path: [], message: `${say}model is required` });
  }
  const isEither = isMissing("system") !== isMissing("systemPrompt");
  const isMeant = isMissing("system") && (meant.has("system") || meant.has("systemPrompt"));
  if (!isEither && !isMeant) {
    const path = isMissing("system") ? [] : ["system"];
    problems.push({ path, message: `${say}give either systemPrompt or system` });
  }
  return problems;
}

/** Keys with a wrong value, and those that unknown keys may stand for. */
function meantKeys(fields: Fields, known: readonly string[]): readonly string[] {
  const wrong = fieldProblems(fields, { known, say: "" }).flatMap(({ path: [key = ""] }) => key);
  return wrong.flatMap((key) => known.includes(key) ? [key] : nearestNames(key, known));
}

/** The fields with which nothing is wrong: of a mapping, the parts that are fine. */
function withoutWrong(fields: Fields, problems: readonly EntryProblem[]): Fields {
  const isWrong = new Set(problems.map(({ path }) => path.join("\0")));
  return Object.fromEntries(
    Object.entries(fields).filter(([key]) => !isWrong.has(key)).map(([key, value]) => {
      if (key !== "limits" || !isRecord(value)) return [key, value];
      return [
        key,
        Object.fromEntries(Object.entries(value).filter(([name]) => !isWrong.has(`${key}\0${name}`))),
      ];
    }),
  );
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** An entry's own `system` drops a default `systemPrompt`, and the reverse. */
function withoutRivals(defaults: Fields, { system = null, systemPrompt = null }: Fields): Fields {
  if (system === null && systemPrompt === null) return defaults;
  const { system: _text, systemPrompt: _path, ...others } = defaults;
  return others;
}

/** Mappings are merged deeply; all else, null too, replaces what lies under it. */
function merged(under: Fields, over: Fields): Fields {
  const entries = Object.entries(over).map(([key, value]) => {
    const below = Object.hasOwn(under, key) ? under[key] : undefined;
    return [key, isRecord(below) && isRecord(value) ? merged(below, value) : value] as const;
  });
  return Object.fromEntries([...Object.entries(under), ...entries]);
}

function withoutNulls(limits: unknown): Partial<AgentLimits> {
  return isRecord(limits)
    ? Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null))
    : {};
}

/** By key: whether a value will do (null always does), and what is expected instead. */
const FORMS: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  model: [isText, "text"],
  systemPrompt: [isText, "the path of a prompt"],
  system: [(value) => typeof value === "string", "text"],
  limits: [isRecord, "a mapping"],
  modelArgs: [isRecord, "a mapping"],
  effort: [EFFORT_RULE.isFine, EFFORT_RULE.wanted],
};

function fieldProblems(
  fields: Fields,
  { known, say }: { readonly known: readonly string[]; readonly say: string },
): readonly EntryProblem[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    if (!known.includes(key)) {
      return [{
        path: [key],
        message: `${say}unknown key ${JSON.stringify(key)}${didYouMeanNames(key, known)}`,
      }];
    }
    const [isFine, wanted] = FORMS[key] ?? [() => true, ""];
    if (value !== null && !isFine(value)) {
      const near = key === "effort" ? didYouMeanNames(String(value), EFFORTS) : "";
      return [{ path: [key], message: `${say}${key} must be ${wanted}${near}` }];
    }
    return key === "limits" && isRecord(value) ? limitProblems(value, say) : [];
  });
}

function limitProblems(limits: Fields, say: string): readonly EntryProblem[] {
  return Object.entries(limits).flatMap(([name, value]) => {
    const message = !LIMIT_NAMES.includes(name)
      ? `unknown limit ${JSON.stringify(name)}${didYouMeanNames(name, LIMIT_NAMES)}`
      : value === null
      ? undefined
      : limitProblem(name, value);
    return message === undefined ? [] : [{ path: ["limits", name], message: `${say}${message}` }];
  });
}
