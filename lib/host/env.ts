import { denoGrants } from "./deno_grants.ts";

/** A variable of the environment; undefined too when Deno itself may not read it. Never asks, never throws. */
export function hostEnv(name: string): string | undefined {
  if (name === "" || /[=\0]/.test(name) || !denoGrants({ name: "env", variable: name })) return undefined;
  return Deno.env.get(name);
}
