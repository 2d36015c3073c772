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

/**
 * Whether Deno itself was started with the permission. Asked before every effect: without it an effect would put
 * Deno's own question on the terminal.
 */
export function denoGrants(permission: Deno.PermissionDescriptor): boolean {
  try {
    return Deno.permissions.querySync(permission).state === "granted";
  } catch {
    return false; // a value that Deno cannot read, such as a host name it finds malformed
  }
}
