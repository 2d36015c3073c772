import { RunOwnedError } from "../core/journal.ts";
import type { JournalSettings } from "./journal_options.ts";
import type { Lease, RunRow } from "./store.ts";

/** How often the owner of a run gives a sign of life. */
export const SIGN_EVERY_MS = 10_000;
/** A run whose owner cannot be looked for is free after this long without one. */
const SILENCE_MS = 30_000;

/** This process's claim on the run. @throws {RunOwnedError} while another one's holds. */
export function newLease(row: Pick<RunRow, "id" | "lease">, settings: JournalSettings): Lease {
  assertFree(row, settings);
  const now = settings.now();
  return { ...settings.owner, token: crypto.randomUUID(), since: now, seenAt: now };
}

/** @throws {RunOwnedError} that says who owns it, since when, and what to do. */
export function assertFree({ id, lease }: Pick<RunRow, "id" | "lease">, settings: JournalSettings): void {
  if (lease === undefined || !isHeld(lease, settings)) return;
  throw new RunOwnedError(`Run "${id}" is being run by ${ownerInWords(lease, settings)}`);
}

/** Whether the process that made the claim still has it. */
export function isHeld(lease: Lease, { owner, isAlive, now }: JournalSettings): boolean {
  const alive = lease.host !== owner.host ? undefined : isThisProcess(lease, owner) || isAlive(lease);
  return alive ?? now() - lease.seenAt < SILENCE_MS;
}

function isThisProcess(lease: Lease, owner: JournalSettings["owner"]): true | undefined {
  const isSame = lease.pid === owner.pid && lease.startedAt !== undefined &&
    lease.startedAt === owner.startedAt;
  return isSame ? true : undefined;
}

function ownerInWords(lease: Lease, settings: JournalSettings): string {
  const { owner, isAlive, now } = settings;
  const since = `since ${new Date(lease.since).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  if (lease.host === owner.host && isThisProcess(lease, owner)) {
    return `this process (${lease.pid}) ${since}: it can be opened again when that has ended`;
  }
  const who = `process ${lease.pid} on ${
    lease.host === owner.host ? "this host" : `host "${lease.host}"`
  } ${since}`;
  if (lease.host === owner.host && isAlive(lease)) {
    return `${who}: wait until it has ended, or end it (kill ${lease.pid})`;
  }
  const silentMs = Math.max(0, now() - lease.seenAt);
  const freeInS = Math.ceil((SILENCE_MS - silentMs) / 1000);
  return `${who}, last heard of ${Math.round(silentMs / 1000)} s ago: wait until it has ended, or end it; ` +
    `if it is gone already, the run is free in ${freeInS} s`;
}
