// What a project says about permissions is the project's word, not the user's: it counts only once the user has
// accepted exactly that (gadgets.md 3).
import {
  type Files,
  isRecord,
  type Json,
  maybeText,
  parseStateList,
  sha256,
  sortedJson,
  type StateListForm,
  stateListText,
} from "../core/core.ts";

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
  /** What it asked for: a {@linkcode markOf} each. Absent in lists of before 2026-11. */
  readonly asked?: readonly string[];
}

/**
 * By which something that a project asks for is known again: a hash, since there may be values in it that are nobody's business.
 *
 * @param line as it is shown
 * @param hidden what else it stands for
 */
export function markOf(line: string, hidden: Json): string {
  return sha256(`${line}\n${sortedJson(hidden)}`).slice(0, 32);
}

/** The name of the list in the state folder. It must not be readable by others: `hostFiles({ root, mode: 0o600 })`. */
const ACCEPTED_FILE = "trusted.json";

const FORM: StateListForm<AcceptedProject> = {
  key: "projects",
  of: "accepted projects",
  each: "project",
  needs: '"root" and "sha256", both text',
  entry(value) {
    if (!isRecord(value)) return undefined;
    const { root, sha256, asked } = value;
    if (typeof root !== "string" || typeof sha256 !== "string") return undefined;
    return Array.isArray(asked) && asked.every((mark) => typeof mark === "string")
      ? { root, sha256, asked }
      : { root, sha256 };
  },
};

/** The SHA-256 of the parts, in hex: the order of keys does not count, everything else does. */
export function hashOwnWord(parts: OwnWord): string {
  return sha256(sortedJson(saidParts(parts)) ?? "");
}

/** Whether the user accepted this project as it is now. */
export function isAccepted(
  accepted: readonly AcceptedProject[],
  project: Pick<AcceptedProject, "root" | "sha256">,
): boolean {
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
  const text = await maybeText(state, file);
  return text === undefined ? [] : parseStateList(text, { file, form: FORM });
}

/** Writes the project into the list of the state folder. @throws as `readAccepted`: a broken list stays as it is. */
export async function writeAccepted(state: Files, project: AcceptedProject): Promise<void> {
  const projects = withAccepted(await readAccepted(state), project);
  await state.writeText(ACCEPTED_FILE, stateListText(projects, FORM));
}

const PARTS = ["grants", "isolation", "mcpServers", "providers", "mcpJson", "lock"] as const;

function saidParts(parts: OwnWord): { readonly [part: string]: Json } {
  return Object.fromEntries(PARTS.flatMap((part) => {
    const value = parts[part];
    return value === undefined ? [] : [[part, value]];
  }));
}
