import { hostEnv } from "../host/deno_grants.ts";
import type { Output } from "../host/output.ts";

/** Whether an output gets colours and a live view: a terminal, and nothing in the environment against it (cli.md). */
export function hasColor(output: Output): boolean {
  return output.isTerminal && !isSet("NO_COLOR") && !isSet("CI") && hostEnv("TERM") !== "dumb";
}

/** Set to the empty text counts as not set (https://no-color.org), and `CI=false` says what it says. */
function isSet(variable: string): boolean {
  const value = hostEnv(variable);
  return value !== undefined && value !== "" && value !== "false";
}
