import {
  didYouMeanNames,
  isPlainObject,
  isRecord,
  type Json,
  messageOf,
  PromptError,
  type PromptErrorCode,
  toJson,
} from "../core/core.ts";
import type { FieldPath } from "../parse/yaml/front_matter.ts";
import { shown } from "../schema/issue.ts";

/** What is wrong with the prompt of a path; one without a path is not named. */
export function promptProblem(
  path: string,
  message: string,
  options: { readonly code?: PromptErrorCode; readonly cause?: unknown } = {},
): PromptError {
  return new PromptError(path === "" ? message : `prompt "${path}": ${message}`, {
    code: "define",
    ...options,
  });
}

/** Something wrong with a part of a definition. */
export interface FieldProblem {
  /** The way to it from the top of the definition; empty for what is wrong with the whole. */
  readonly path: FieldPath;
  readonly message: string;
}

/** Is told each problem of a definition with the way to it: a program is thrown the first, a file has all of them told. */
export type Refuse = (at: FieldPath, problem: PromptError) => void;

/** @throws the first problem */
export function throwFirst(_at: FieldPath, problem: PromptError): void {
  throw problem;
}

/** Does what throws a `PromptError` when something is wrong, and refuses it then. */
export function orRefuse<T>(refuse: Refuse, at: FieldPath, work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof PromptError)) throw thrown;
    refuse(at, thrown);
    return undefined;
  }
}

/** Every key of the value has to be one of those known. @param options `where`: how the message begins */
export function refuseUnknownKeys(
  value: object,
  known: readonly string[],
  { path, where = "", at = [], refuse = throwFirst }: {
    readonly path: string;
    readonly where?: string;
    readonly at?: FieldPath;
    readonly refuse?: Refuse;
  },
): void {
  for (const key of Object.keys(value).filter((key) => !known.includes(key))) {
    const message = `${where}unknown key ${JSON.stringify(key)}${didYouMeanNames(key, known)}`;
    refuse([...at, key], promptProblem(path, message));
  }
}

/** A field of a prompt that is a JSON object. */
export function jsonRecord(
  field: string,
  value: unknown,
  { path, refuse }: { readonly path: string; readonly refuse: Refuse },
): { readonly [key: string]: Json } {
  const asJson = (at: FieldPath, value: unknown) => {
    try {
      return toJson(value);
    } catch (cause) {
      const words = messageOf(cause).replace(/^not JSON: /, "");
      refuse(at, promptProblem(path, `${field} must be JSON: ${words}`, { cause }));
      return undefined;
    }
  };
  if (!isRecord(value) || !isPlainObject(value)) {
    const json = asJson([field], value);
    if (isRecord(json)) return json;
    refuse([field], promptProblem(path, `${field} must be an object, found ${shown(value)}`));
    return {};
  }
  const parts = Object.entries(value).map(([key, part]) => asJson([field, key], { [key]: part }));
  return Object.fromEntries(parts.flatMap((part) => Object.entries(part ?? {})));
}
