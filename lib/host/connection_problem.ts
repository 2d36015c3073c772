import { messageOf } from "../core/source_error.ts";

/** Why a request to a URL failed, in words that go behind "Cannot fetch …:". */
export function connectionProblem(error: unknown, url: URL): string {
  const message = messageOf(error).replace(/ \(os error \d+\).*$/s, "");
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
