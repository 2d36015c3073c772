import { UsageError } from "./exit_code.ts";

/** What a run was made of is not what it was when it began. */
export class ChangedError extends UsageError {}
