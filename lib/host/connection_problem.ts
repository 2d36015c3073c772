import { systemReason } from "./file_attempt.ts";

/** Why a request to a URL failed, in words that go behind "Cannot fetch …:". */
export function connectionProblem(error: unknown, url: URL): string {
  const message = systemReason(error);
  if (/ENOTFOUND|EAI_/.test(message)) return `there is no address for the host "${url.hostname}"`;
  if (error instanceof Deno.errors.ConnectionRefused) {
    return `nothing answers at ${url.host} (connection refused)`;
  }
  if (error instanceof Deno.errors.NotCapable) {
    return `Deno itself was started without the permission: ${message}`;
  }
  if (message.includes("invalid peer certificate")) {
    return `the certificate of ${url.host} is not accepted: ${message}`;
  }
  return message;
}
