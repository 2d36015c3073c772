// What a project says about permissions is the project's word, not the user's: it counts only once the user has
// accepted exactly that (gadgets.md 3).
import type { Json } from "../core/json.ts";
import { messageOf, SourceError } from "../core/source_error.ts";
import { FileError, type Files } from "../core/world.ts";

/** The parts of a project that speak for its user; those that are absent do not count. */
export interface OwnWord {
  readonly grants?: Json;
  readonly isolation?: Json;
  readonly mcpServers?: Json;
  readonly providers?: Json;
  /** `.mcp.json` */
  readonly mcpJson?: Json;
  /** `orrery.lock` */
  readonly lock?: Json;
}

/** A project that was accepted: its real root, and the SHA-256 of what its own word was then, in hex. */
export interface AcceptedProject {
  readonly root: string;
  readonly sha256: string;
}

/** The name of the list in the state folder. It must not be readable by others: `hostFiles({ root, mode: 0o600 })`. */
export const ACCEPTED_FILE = "trusted.json";

/** Whether a project says anything that has to be accepted. */
export function hasOwnWord(parts: OwnWord): boolean {
  return Object.keys(saidParts(parts)).length > 0;
}

/** The SHA-256 of the parts, in hex: the order of keys does not count, everything else does. */
export async function hashOwnWord(parts: OwnWord): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(saidParts(parts))));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether the user accepted this project as it is now. */
export function isAccepted(accepted: readonly AcceptedProject[], project: AcceptedProject): boolean {
  return accepted.some(({ root, sha256 }) => root === project.root && sha256 === project.sha256);
}

/** The list with the project in it; what was accepted of the same root before no longer counts. */
export function withAccepted(
  accepted: readonly AcceptedProject[],
  project: AcceptedProject,
): readonly AcceptedProject[] {
  return [...accepted.filter(({ root }) => root !== project.root), project];
}

/**
 * Reads the list from the state folder; no file is an empty list.
 *
 * @throws {SourceError} that names the file when it is not such a list; {FileError} when it cannot be read.
 */
export async function readAccepted(state: Files): Promise<readonly AcceptedProject[]> {
  const file = await state.resolve(ACCEPTED_FILE);
  try {
    return parseAccepted(await state.readText(file), file);
  } catch (error) {
    if (error instanceof FileError && error.code === "not-found") return [];
    throw error;
  }
}

/** Writes the project into the list of the state folder. @throws as `readAccepted`: a broken list stays as it is. */
export async function writeAccepted(state: Files, project: AcceptedProject): Promise<void> {
  const projects = withAccepted(await readAccepted(state), project);
  await state.writeText(ACCEPTED_FILE, JSON.stringify({ version: 1, projects }, null, 2) + "\n");
}

function parseAccepted(text: string, file: string): readonly AcceptedProject[] {
  const list: unknown = parseJson(text, file);
  if (!isRecord(list) || list.version !== 1 || !Array.isArray(list.projects)) {
    throw broken(file, `expected {"version": 1, "projects": [...]}`);
  }
  return list.projects.map((project: unknown, index) => {
    if (isRecord(project) && typeof project.root === "string" && typeof project.sha256 === "string") {
      return { root: project.root, sha256: project.sha256 };
    }
    throw broken(file, `entry ${index + 1} of "projects" must have "root" and "sha256", both text`);
  });
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(file, `it is not JSON: ${messageOf(error)}`);
  }
}

function broken(file: string, reason: string): SourceError {
  return new SourceError(`Cannot read the list of accepted projects ${JSON.stringify(file)}: ${reason}`, {
    hint: "Mend the file, or delete it: you are then asked about each project again.",
    code: "E-accepted",
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const PARTS = ["grants", "isolation", "mcpServers", "providers", "mcpJson", "lock"] as const;

function saidParts(parts: OwnWord): { readonly [part: string]: Json } {
  return Object.fromEntries(PARTS.flatMap((part) => {
    const value = parts[part];
    return value === undefined ? [] : [[part, value]];
  }));
}

/** JSON with sorted keys and without blanks: one text for each value. */
function canonical(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
