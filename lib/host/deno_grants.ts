/** A variable of the environment; undefined too when Deno itself may not read it. Never asks, never throws. */
export function hostEnv(name: string): string | undefined {
  if (
    name === "" || name.includes("=") || name.includes("\0") || !denoGrants({ name: "env", variable: name })
  ) return undefined;
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

/** The kinds that Deno was started with as a whole: that cannot change, since nothing here gives a permission back. */
const wholly = new Set<Deno.PermissionDescriptor["name"]>();

/**
 * Whether Deno itself was started with the permission. Asked before every effect: without it an effect would put
 * Deno's own question on the terminal.
 */
export function denoGrants(permission: Deno.PermissionDescriptor): boolean {
  const { name } = permission;
  if (wholly.has(name)) return true;
  const whole = maybeStatus({ name });
  if (whole?.state === "granted" && !whole.partial) {
    wholly.add(name);
    return true;
  }
  return maybeStatus(permission)?.state === "granted";
}

/** Undefined for a value that Deno cannot read, such as a host name it finds malformed. */
function maybeStatus(permission: Deno.PermissionDescriptor): Deno.PermissionStatus | undefined {
  try {
    return Deno.permissions.querySync(permission);
  } catch {
    return undefined;
  }
}
