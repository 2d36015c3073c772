import { messageOf } from "../core/source_error.ts";
import { PermissionRefused } from "../core/world.ts";

/** Does it, and a second time when the network failed (conversations.md 2.3); what is not allowed, or aborted, is not tried again. */
export async function oncemore<Value>(attempt: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof PermissionRefused || signal.aborted) throw error;
    return await attempt();
  }
}

/** Why a request failed, without the URL, which its reader knows. */
export function networkReason(error: unknown): string {
  return messageOf(error).replace(/^Cannot fetch "(?:[^"\\]|\\.)*": /, "").replaceAll(/\s+/g, " ");
}
