import {
  askGrantAnswer,
  type GadgetToGrant,
  type GrantAnswer,
  LOCK_FILE,
  PermissionRefused,
  shownWord,
  type User,
} from "../core/core.ts";
import { gadgetGrantFlags } from "./gadget_grants.ts";
import { permissionLines, type PermissionPlace } from "./permission_sets.ts";
import { PERMISSION_KINDS } from "./policy_settings.ts";
import { shellWord } from "./refusal.ts";

/** What is asked about. */
export interface GrantQuestion extends PermissionPlace {
  readonly gadget: GadgetToGrant;
  /** Its file, as messages name it. */
  readonly shownFile: string;
  /** The working folder, which the paths of flags are relative to: absolute. */
  readonly cwd: string;
  /** What names this gadget, and no other, on the command line. Default: its name. */
  readonly word?: string;
  /** The command that allows it for good. Default: there is none. */
  readonly allowing?: string;
  /** What is not as it was when it was allowed before, a line each; empty when it never was. */
  readonly changes: readonly string[];
}

/** What the answers mean. */
const MEANING = `Once is for this run, always until a file of it changes (kept in ${LOCK_FILE}).`;

/** More changes than this nobody reads; that there are more is told. */
const MAX_CHANGES = 12;

/** The question, of several lines: the file, each permission in words, and what changed. */
export function grantQuestion({ gadget, shownFile, changes, ...place }: GrantQuestion): string {
  const lines = permissionLines(gadget.permissions, place);
  const was = changes.length === 0
    ? []
    : ["It is not as it was when you allowed it:", ...shownChanges(changes).map(indented)];
  return [
    `The gadget ${shownWord(gadget.name)} of ${shownWord(shownFile)} asks for this:`,
    ...lines.map(indented),
    ...was,
    MEANING,
    "Allow it?",
  ].join("\n");
}

/** The answer of the person at the terminal; undefined when nobody can be asked. @throws what `signal` was aborted with */
export function askGrant(
  question: GrantQuestion,
  options: { readonly user: User; readonly signal?: AbortSignal },
): Promise<GrantAnswer | undefined> {
  return askGrantAnswer(grantQuestion(question), options);
}

/** Why a gadget may not run, and the flags that would help: its call ends with the code `permission`, and the run with exit code 5. */
export function grantRefused(
  { gadget, shownFile, cwd, word = gadget.name, allowing, changes, ...place }: GrantQuestion,
  { isDenied, hasFlags = true, hint = "" }: {
    readonly isDenied: boolean;
    /** Whether the command takes flags that would help. */
    readonly hasFlags?: boolean;
    readonly hint?: string;
  },
): PermissionRefused {
  const request = firstRequest(gadget);
  const who = `Gadget ${JSON.stringify(gadget.name)} (${shownWord(shownFile)})`;
  if (isDenied) {
    return new PermissionRefused(`${who} was not run: you did not allow it`, { request, flag: "" });
  }
  const asks = permissionLines(gadget.permissions, { ...place, most: 6 }).join("; ");
  const why = changes.length === 0
    ? "is not allowed"
    : `is not as it was when it was allowed (${
      shownChanges(changes).join("; ")
    }), so it is not allowed any more`;
  const flag = hasFlags ? `--trust ${shellWord(word)}` : "";
  const exact = gadgetGrantFlags({ ...gadget, name: word }, { ...place, cwd }).join(" ");
  const ways = [
    ...(hasFlags ? [`add ${flag}, which grants that in this run, or the part that you want: ${exact}`] : []),
    ...(allowing === undefined ? [] : [`${allowing} allows it for good`]),
  ];
  return new PermissionRefused(`${who} ${why}: it wants to ${asks}; ${ways.join("; ")}${hint}`, {
    request,
    flag,
  });
}

function firstRequest({ permissions }: GadgetToGrant): PermissionRefused["request"] {
  const kind = PERMISSION_KINDS.find((each) => permissions[each] !== undefined) ?? "read";
  const granted = permissions[kind];
  return { kind, value: granted === undefined || granted === true ? "*" : granted[0] ?? "*" };
}

function shownChanges(changes: readonly string[]): readonly string[] {
  if (changes.length <= MAX_CHANGES) return changes;
  return [...changes.slice(0, MAX_CHANGES), `and ${changes.length - MAX_CHANGES} more`];
}

function indented(line: string): string {
  return `  ${line}`;
}
