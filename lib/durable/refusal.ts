// What becomes of a task that a node does not do: whoever has handed it over is told why, as if their own node had said it, or others get it.
import {
  FileError,
  type Json,
  ModelError,
  ProblemsError,
  PromptError,
  SourceError,
  toJson,
} from "../core/core.ts";
import { UsageError } from "../service/exit_code.ts";
import { LACKS, ServiceError, type ServiceErrorCode } from "../service/service.ts";
import { TooMuchError } from "./commit_log.ts";

/** Why a node does not do a task. */
export interface Refusal {
  /** For {@linkcode toldAgain}. */
  readonly told: Json;
  /** Every node would say so of the run as it stands. */
  readonly isSettled: boolean;
  /** Another node may have what is missing here: a key, a grant, a gadget. */
  readonly isLacking: boolean;
}

const SETTLED: ReadonlySet<ServiceErrorCode> = new Set(["busy", "ended", "unverified", "gone"] as const);
/** A node that has as many runs as it may, or is about to end, is asked again. */
const PASSING: ReadonlySet<ServiceErrorCode> = new Set(["limit", "stopping"] as const);

/** Undefined for what passes, and for what nobody foresaw. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof ServiceError && PASSING.has(error.code)) return undefined;
  const isSettled = error instanceof TooMuchError ||
    (error instanceof ServiceError && SETTLED.has(error.code));
  const told = toldError(error);
  return told === undefined ? undefined : { told, isSettled, isLacking: isLacking(error) };
}

/** Whether another node may have what is missing here. */
export function isLacking(error: unknown): boolean {
  if (error instanceof ModelError) return error.code === "config" || error.code === "permission";
  if (error instanceof ServiceError) return error.code === "refused";
  return error instanceof ProblemsError && error.problems.some(({ code }) => code === LACKS);
}

/** By their names, each made of a message and of what else it says. */
const ERRORS = { ServiceError, SourceError, ModelError, PromptError, FileError } as const;

function toldError(error: unknown): Json | undefined {
  if (error instanceof ProblemsError) {
    return { problems: error.problems.map((each) => toldError(each) ?? null) };
  }
  if (error instanceof UsageError || error instanceof TooMuchError) {
    return toldError(new ServiceError(error.message, { code: "invalid" }));
  }
  if (!(error instanceof Error && Object.hasOwn(ERRORS, error.name))) return undefined;
  const { name, message, cause: _cause, source: _source, ...more } = error as SourceError; // a whole file is too much
  return { name, message, more: toJson(more) };
}

/** The same error again, at the node that has handed the task over. */
export function toldAgain(told: Json): Error {
  const { name, message, more, problems } = Object(told);
  if (Array.isArray(problems)) {
    return new ProblemsError(problems.map(toldAgain).filter((each) => each instanceof SourceError));
  }
  if (!Object.hasOwn(ERRORS, name)) return new Error(message);
  return new ERRORS[name as keyof typeof ERRORS](message, more);
}
