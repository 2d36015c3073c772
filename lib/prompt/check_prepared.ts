import type { ParseIssue } from "../core/prompt_error.ts";
import { fillDefaults } from "../schema/coerce.ts";
import { placed } from "../schema/failure_place.ts";
import { JsonValidator } from "../schema/json_validator.ts";
import type { PreparedSchema } from "../schema/prepare_schema.ts";
import type { CheckedValue } from "./check_value.ts";
import { failureFaults } from "./failure_faults.ts";
import { IssueTree } from "./issue_tree.ts";

/** Checks a JSON value by a prepared schema. `size`: of the value, as measured. */
export function checkPrepared(
  prepared: PreparedSchema,
  { value, size }: { readonly value: unknown; readonly size: number },
): CheckedValue {
  try {
    const validator = new JsonValidator(prepared, { size });
    const whole = prepared.hasDefaults ? fillDefaults(value, validator) : value;
    const failures = placed(validator.failuresOf(whole));
    if (failures.length === 0) return { value: whole };
    const tree = new IssueTree();
    for (const fault of failureFaults(failures, { value: whole, root: prepared.root })) tree.add(fault);
    return { issues: tree.issues(whole) };
  } catch (error) {
    if (error instanceof RangeError) return { issues: [TOO_DEEP] };
    throw error;
  }
}

const TOO_DEEP: ParseIssue = { path: [], message: "cannot be checked: nested too deep" };
