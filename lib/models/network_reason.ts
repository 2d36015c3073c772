import { messageOf } from "../core/source_error.ts";
import { shortened } from "./said_by.ts";

/** Why there is no connection, in words, from whatever a `fetch` throws. */
export function networkReason(error: unknown): string {
  const text = messages(error).join(": ");
  if (/refused|ECONNREFUSED/i.test(text)) return "nothing answers there (connection refused)";
  if (/ENOTFOUND|EAI_|dns error|failed to lookup|name or service not known/i.test(text)) {
    return "there is no address for this host";
  }
  if (/certificate|tls handshake|InvalidCertificate/i.test(text)) {
    return `its certificate is not accepted (${shortened(text)})`;
  }
  if (/reset|closed before|connection closed|broken pipe|unexpected e(nd|of)|incomplete/i.test(text)) {
    return "the connection was closed";
  }
  return shortened(text);
}

function messages(error: unknown): readonly string[] {
  const cause = error instanceof Error ? error.cause : undefined;
  return [messageOf(error), ...(cause === undefined ? [] : messages(cause))];
}
