import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { type AgentLimits, DEFAULT_LIMITS, LIMIT_NAMES, limitProblem } from "../prompt/limits.ts";

/** An agent of `orrery.yaml` (prompts.md 10), complete. */
export interface AgentProfile {
  readonly name: string;
  readonly model: string;
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

const KEYS: readonly string[] = ["name", "model", "systemPrompt", "system", "limits", "modelArgs"];

/** What is wrong with the values that lie under every entry. */
export function defaultsProblems(defaults: Fields): readonly EntryProblem[] {
  return fieldProblems(defaults, { known: KEYS.filter((key) => key !== "name"), say: "agentDefaults: " });
}

/** An agent of an entry, or what is wrong with it. @param label names an entry without a name */
export function agentProfile(
  entry: unknown,
  { defaults, label }: { readonly defaults: Fields; readonly label: string },
): { readonly profile: AgentProfile } | { readonly problems: readonly EntryProblem[] } {
  const refused = (path: readonly string[], message: string) => ({ problems: [{ path, message }] });
  if (!isRecord(entry)) return refused([], `${label} must be a mapping, or the name of a YAML file`);
  const { name = null } = entry;
  if (name === null || name === "") return refused([], `${label}: name is required`);
  if (typeof name !== "string") return refused(["name"], `${label}: name must be text`);
  const say = `agent ${JSON.stringify(name)}: `;
  const problems = fieldProblems(entry, { known: KEYS, say });
  if (problems.length > 0) return { problems };
  const whole = merged(withoutRivals(defaults, entry), entry);
  const model = textOf(whole.model);
  const [systemPrompt, system] = [textOf(whole.systemPrompt), textOf(whole.system)];
  if (model === null) return refused([], `${say}model is required`);
  if ((systemPrompt === null) === (system === null)) {
    return refused(system === null ? [] : ["system"], `${say}give either systemPrompt or system`);
  }
  const limits = { ...DEFAULT_LIMITS, ...withoutNulls(whole.limits) };
  const modelArgs = isRecord(whole.modelArgs) ? whole.modelArgs : {};
  return { profile: { name, model, systemPrompt, system, limits, modelArgs } };
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
    if (value !== null && !isFine(value)) return [{ path: [key], message: `${say}${key} must be ${wanted}` }];
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

function isText(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}
