import { RunEndedError, RunNotFoundError, RunOwnedError } from "../core/journal.ts";
import { ServiceError } from "./service.ts";

/** What the journal refuses, as the service says it. @throws {ServiceError} `not-found`, `busy`, `ended` */
export function inWords<Value>(id: string, look: () => Value): Value {
  try {
    return look();
  } catch (error) {
    if (error instanceof RunNotFoundError) throw noRun(id);
    if (error instanceof RunOwnedError) throw new ServiceError(error.message, { code: "busy" });
    if (error instanceof RunEndedError) throw new ServiceError(error.message, { code: "ended" });
    throw error;
  }
}

/** Nobody knows it. */
export function noRun(id: string): ServiceError {
  return new ServiceError(`There is no run ${JSON.stringify(id)} in the project`, { code: "not-found" });
}

/** Nobody else may have it now. */
export function busyRun(id: string): ServiceError {
  return new ServiceError(`Run ${id} is under way: wait until it has ended, or cancel it`, { code: "busy" });
}
