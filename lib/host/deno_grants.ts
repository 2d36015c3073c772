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
