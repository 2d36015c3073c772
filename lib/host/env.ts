import { denoGrants } from "./deno_grants.ts";

/** A variable of the environment; undefined too when Deno itself may not read it. Never asks, never throws. */
export function hostEnv(name: string): string | undefined {
  if (name === "" || /[=\0]/.test(name) || !denoGrants({ name: "env", variable: name })) return undefined;
  return Deno.env.get(name);
}

/** Why {@linkcode hostEnv} cannot look at a variable; undefined when it can. */
export function hostEnvProblem(name: string): string | undefined {
  if (denoGrants({ name: "env", variable: name })) return undefined;
  return `Deno itself was started without --allow-env=${name}`;
}

/** The names of all variables; none when Deno itself may not read all of them. */
export function hostEnvNames(): readonly string[] {
  return denoGrants({ name: "env" }) ? Object.keys(Deno.env.toObject()) : [];
}
