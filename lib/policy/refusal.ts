import { pathFromFolder, PermissionRefused, type PermissionRequest, type Policy } from "../core/core.ts";
import { isAbsolute } from "node:path";

/** What a refusal says besides the request. */
export interface RefusalOptions {
  /** The working folder: paths inside it are shown relative to it. */
  readonly cwd: string;
  /** Why, when it is not just that no flag allows it: `it is not public (loopback)`. */
  readonly reason?: string;
  /** What the flag has to name, when it is not what was asked for: the address of a host. */
  readonly entry?: string;
  /** The flag that forbids it; then no flag would allow it. */
  readonly deniedBy?: string;
  /** The gadget that wants it, when what counts is what that was granted. */
  readonly gadget?: string;
  /** What names the gadget, and no other, on the command line. Default: its name. */
  readonly word?: string;
  /** It was asked for while the module of a gadget was loaded, which nobody can grant. */
  readonly isLoading?: boolean;
  /** Programs, and whatever a gadget does, are allowed in the settings only. */
  readonly runsByGrant?: boolean;
}

/** The error that names what was asked for and the flag to add, or the `--deny` flag that stands against it. */
export function refusal(request: PermissionRequest, options: RefusalOptions): PermissionRefused {
  const shown = shownValue(request, options.cwd);
  const { gadget } = options;
  const who = gadget === undefined ? "" : ` for gadget ${JSON.stringify(gadget)}`;
  const what = `${DOING[request.kind]} ${JSON.stringify(shown)} is not allowed${who}`;
  if (options.deniedBy !== undefined) {
    return new PermissionRefused(`${what}: ${options.deniedBy} forbids it`, { request, flag: "" });
  }
  if (options.isLoading) {
    return new PermissionRefused(
      `${what} while a module is loaded: it may do nothing then; do it in the gadget's run`,
      { request, flag: "" },
    );
  }
  const entry = options.entry ?? shown;
  const why = options.reason === undefined ? "" : `${options.reason}; `;
  if (options.runsByGrant && (gadget !== undefined || request.kind === "run")) {
    const list = `{ ${request.kind}: [${JSON.stringify(entry)}] }`;
    const as = gadget === undefined
      ? `"@shell": ${list} for documents or RunCommand: ${list} for calls`
      : `${gadget}: ${list}`;
    return new PermissionRefused(`${what} here: ${why}grants of orrery.yaml have to name it, as ${as}`, {
      request,
      flag: "",
      isFinal: false,
    });
  }
  const flag = gadget === undefined
    ? shellWord(`--allow-${request.kind}=${flagValue(entry)}`)
    : `--allow-gadget ${shellWord(gadgetValue(request.kind, entry, options.word ?? gadget))}`;
  return new PermissionRefused(`${what}: ${why}add ${flag}`, { request, flag });
}

/** Of a gadget no command is called `*`: it stands for all of them. */
function gadgetValue(kind: PermissionRequest["kind"], shown: string, gadget: string): string {
  if (kind === "run" && shown === "*") return `${gadget}=run`;
  const isLikeKind = /^(?:read|write|net|run|env|sys):/.test(shown) && (kind === "read" || kind === "write");
  return `${gadget}=${kind}:${flagValue(isLikeKind ? `./${shown}` : shown)}`;
}

const DOING: { readonly [kind in PermissionRequest["kind"]]: string } = {
  read: "Reading",
  write: "Writing",
  net: "Connecting to",
  run: "Running",
  env: "Reading the variable",
  sys: "Asking the system for",
};

function shownValue({ kind, value }: PermissionRequest, cwd: string): string {
  const isPath = kind === "read" || kind === "write" || (kind === "run" && isAbsolute(value));
  return isPath ? shownPath(value, { cwd, kind }) : value;
}

function shownPath(path: string, { cwd, kind }: { cwd: string; kind: string }): string {
  const shown = pathFromFolder(path, cwd);
  return kind === "run" && shown !== path ? `./${shown}` : shown; // a bare word would be a command of PATH
}

/** A flag's value: a comma in it is doubled, because single ones divide the list. */
export function flagValue(value: string): string {
  return value.replaceAll(",", ",,");
}

/** Quotes a word for a POSIX shell when it needs it; control characters become escapes, so that none reaches a terminal. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (!/\p{Cc}/u.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${word.replace(/[\\']/g, "\\$&").replace(/\p{Cc}/gu, escaped)}'`;
}

/** `\u000a`: the form that both bash and zsh know inside $'...'. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Why a policy refuses a request; undefined when it allows it. */
export function maybeRefusal(
  policy: Pick<Policy, "check">,
  request: PermissionRequest,
): PermissionRefused | undefined {
  try {
    policy.check(request);
    return undefined;
  } catch (error) {
    if (error instanceof PermissionRefused) return error;
    throw error;
  }
}
