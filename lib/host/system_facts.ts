import type { Json } from "../core/json.ts";
import { denoGrants } from "./process.ts";

/** What can be granted of the system, as `Deno.permissions` names it. */
export const SYSTEM_FACTS = [
  "hostname",
  "osRelease",
  "osUptime",
  "loadavg",
  "networkInterfaces",
  "systemMemoryInfo",
  "uid",
  "gid",
] as const;

/** The facts of these names; those are missing that Deno itself may not tell. */
export function systemFacts(names: readonly string[]): Readonly<Record<string, Json>> {
  const wanted = SYSTEM_FACTS.filter((name) =>
    names.includes(name) && denoGrants({ name: "sys", kind: name })
  );
  return Object.fromEntries(wanted.map((name) => [name, JSON.parse(JSON.stringify(Deno[name]()))]));
}
