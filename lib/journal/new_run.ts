// How a run begins: its id, and the claim of this process on it.
import {
  type RunEvent,
  RunOwnedError,
  type RunStart,
  type RunSummary,
  systemClock,
  type Usage,
} from "../core/core.ts";
import { type OpenRun, openRun, type OpenRunOptions, type OwnedRow, parsed } from "./open_run.ts";
import type { FileRow, JournalOptions, JournalSettings, JournalStore, Lease, RunRow } from "./store.ts";

/** What a new run needs besides what it starts with. */
export type NewRunOptions =
  & Pick<OpenRunOptions, "store" | "settings" | "onRelease">
  & { readonly conversation: (id: string) => OpenRunOptions["conversation"] };

/** A run that this process begins; the store has it from its first commit on. @throws {TypeError} when its id cannot be one */
export function newRun(start: RunStart, options: NewRunOptions): OpenRun {
  const { settings } = options;
  const { kind, file, files = [], input } = settings.mask(start);
  const now = settings.now();
  const id = start.id === undefined ? newRunId(now) : usableId(start.id);
  return openRun({
    ...options,
    row: newRow({ id, kind, file, now }, settings),
    run: {
      id,
      kind,
      file,
      ...(files.length === 0 ? {} : { files }),
      input,
    },
    events: [],
    conversation: options.conversation(id),
    resumedFrom: undefined,
    isNew: true,
  });
}

function newRow(
  { id, kind, file, now }: Pick<OwnedRow, "id" | "kind" | "file"> & { readonly now: number },
  settings: JournalSettings,
): OwnedRow {
  return {
    id,
    kind,
    file,
    status: "running",
    startedAt: now,
    updatedAt: now,
    usage: JSON.stringify({ input: 0, output: 0 }),
    steps: 0,
    ticks: 0,
    elapsedMs: 0,
    lease: newLease({ id, lease: undefined }, settings),
  };
}

function usableId(wanted: string): string {
  if (/^[\w.:@-]{1,100}$/.test(wanted)) return wanted;
  throw new TypeError(
    `The id of a run has 1 to 100 letters, digits and "_.:@-"; found ${JSON.stringify(wanted.slice(0, 120))}`,
  );
}

/** The options with their defaults. */
export function journalSettings({ secrets, ...options }: JournalOptions): JournalSettings {
  return {
    owner: { host: "", pid: 0 },
    isAlive: () => undefined,
    told: () => 0,
    every: () => () => undefined,
    now: Date.now,
    clock: systemClock,
    ...options,
    mask: secrets === undefined ? (value) => value : (value) => secrets.maskJson(value),
  };
}

// 12 characters: 7 of the time in steps of 32 ms, enough till 2059, and 5 that are random. So ids sort by time, and two processes that
// begin a run in the same moment do not meet.

/** Crockford's base 32: no i, l, o and u, which are read for others. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const BASE = ALPHABET.length;
const EPOCH_MS = Date.UTC(2025, 0, 1);
const STEP_MS = 32;
const TIME_LENGTH = 7;
const RANDOM_LENGTH = 5;
/** 120 bits. */
const TOKEN_LENGTH = 24;

/**
 * The id of a run that begins now.
 *
 * @param now ms since 1970
 */
export function newRunId(now: number): string {
  const steps = Math.floor(Math.max(0, now - EPOCH_MS) / STEP_MS) % BASE ** TIME_LENGTH;
  const digits = Array.from(
    { length: TIME_LENGTH },
    (_, i) => digit(Math.floor(steps / BASE ** (TIME_LENGTH - 1 - i))),
  );
  return digits.join("") + randomDigits(RANDOM_LENGTH);
}

function randomDigits(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), digit).join("");
}

const digit = (value: number): string => ALPHABET.charAt(value % BASE);

/** How often the owner of a run gives a sign of life. */
export const SIGN_EVERY_MS = 10_000;
/** A run whose owner cannot be looked for is free after this long without one. */
const SILENCE_MS = 30_000;

/** This process's claim on the run. @throws {RunOwnedError} while another one's holds. */
export function newLease(row: Pick<RunRow, "id" | "lease">, settings: JournalSettings): Lease {
  assertFree(row, settings);
  const now = settings.now();
  return { ...settings.owner, token: randomDigits(TOKEN_LENGTH), since: now, seenAt: now };
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

/** What the run was started with. */
export function runStart(store: JournalStore, { id, kind, file }: RunRow): RunStart {
  const files = store.files(id);
  return {
    id,
    kind,
    file,
    ...(files.length === 0 ? {} : { files: whole(files) }),
    input: parsed(store.input(id)),
  };
}

/** The pieces of each path behind each other. */
function whole(pieces: readonly FileRow[]): readonly FileRow[] {
  return [...Map.groupBy(pieces, ({ path }) => path)].map(([path, parts]) => ({
    path,
    text: parts.map(({ text }) => text).join(""),
  }));
}

/** Events in the lists in which they were kept. */
export function parsedEvents(texts: readonly string[]): readonly RunEvent[] {
  const lists: readonly (readonly RunEvent[])[] = JSON.parse(`[${texts.join(",")}]`);
  return lists.flat();
}

/** The run as lists show it. */
export function runSummary(row: RunRow, settings: JournalSettings): RunSummary {
  const { id, kind, file, status, startedAt, updatedAt, steps, lease } = row;
  return {
    id,
    kind,
    file,
    status,
    owned: lease !== undefined && isHeld(lease, settings),
    startedAt,
    updatedAt,
    steps,
    usage: parsedUsage(row.usage),
  };
}

function parsedUsage(text: string): Usage {
  return JSON.parse(text);
}
