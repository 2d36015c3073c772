import type { Clock } from "./clock.ts";
import { withCause } from "./source_error.ts";

/** What can be asked for: the kinds of Deno's own permission flags. */
export type PermissionKind = "read" | "write" | "net" | "run" | "env" | "sys";

/** What a gadget says it needs, or a user granted: all of a kind, or a list. Paths are relative to the project root. */
export type Permissions = { readonly [kind in PermissionKind]?: true | readonly string[] };

/** One thing about to be done. `value` is a real path, `host:port`, the name of a command or of a variable. */
export interface PermissionRequest {
  readonly kind: PermissionKind;
  readonly value: string;
  /** For `net`: the address the host resolved to, which is what the rule of private ranges looks at. */
  readonly address?: string;
  /** More to show when somebody is asked, such as the whole command; it decides nothing. */
  readonly detail?: string;
}

/**
 * Something was not allowed. The message names what was asked for and the flag that would allow it.
 *
 * ```ts
 * import { PermissionRefused } from "orrery";
 *
 * const request = { kind: "write", value: "out/moons.txt" } as const;
 * const refused = new PermissionRefused("writing out/moons.txt is not allowed", { request, flag: "--allow-write=out" });
 * console.log(refused.flag); // => --allow-write=out
 * ```
 */
export class PermissionRefused extends Error {
  override readonly name = "PermissionRefused";
  readonly request: PermissionRequest;
  /** The flag that would allow it, ready to be typed: `--allow-write=out`. */
  readonly flag: string;
  /** It is forbidden by what it is called, also where it is allowed by another name. */
  readonly isFinal: boolean;
  /** What somebody may know who was refused: it names no path that they did not name. */
  readonly told: string;

  /**
   * @param options.isFinal default: whether no flag would allow it
   * @param options.told default: the message
   */
  constructor(
    message: string,
    options: { request: PermissionRequest; flag: string; isFinal?: boolean; told?: string },
  ) {
    super(message);
    this.told = options.told ?? message;
    this.request = options.request;
    this.flag = options.flag;
    this.isFinal = options.isFinal ?? options.flag === "";
  }
}

/** What a run may do. Asked before every effect of a built-in gadget and of everything after them. */
export interface Policy {
  /** Comes back when it is allowed. @throws {PermissionRefused} when it is not. */
  check(request: PermissionRequest): void;
  /** The same, but where somebody can be asked, they are asked first. */
  permit(request: PermissionRequest): void | Promise<void>;
  /** What is allowed, in words, a line for each kind; for `orrery plan` and error messages. */
  describe(): readonly string[];
}

/** What is at a path. */
export interface FileInfo {
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
}

/** What a look at a path finds: `nothing`, or that it may not be looked at (`closed`), is no error here. */
export type Sight = FileInfo["kind"] | "nothing" | "closed";

/** An entry of a folder; a link is told as what it points to, with `link: true`. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
  readonly link: boolean;
}

/**
 * Files. Paths are relative to the project root or absolute; the guarded form (lib/policy/guard.ts) follows links, asks
 * the policy about the real path, and then opens that real path.
 *
 * Every method throws a `FileError` that names the path as it was given.
 */
export interface Files {
  /**
   * The real, absolute path; for a path that does not exist yet, that of its nearest existing folder joined with the rest.
   * With `for`, the policy is asked about what the path is wanted for.
   */
  resolve(path: string, options?: { readonly for?: "write" }): Promise<string>;
  stat(path: string): Promise<FileInfo>;
  readBytes(path: string, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
  /** UTF-8, strictly: a file that is not text is an error that names the offset of the first wrong byte. */
  readText(path: string, options?: { signal?: AbortSignal }): Promise<string>;
  /** Whole or not at all: written beside the target, then renamed; folders on the way are made; the mode is kept. */
  writeText(path: string, text: string): Promise<void>;
  /** The entries of a folder, sorted by name. */
  list(path: string): Promise<readonly FolderEntry[]>;
}

/** Why a file could not be used. */
export type FileErrorCode =
  | "not-found"
  | "exists"
  | "is-folder"
  | "not-folder"
  | "not-empty"
  | "not-text"
  | "too-large"
  | "denied"
  | "other";

/**
 * A file could not be used; the message names the path as the user gave it, and what to do.
 *
 * ```ts
 * import { FileError, memoryFiles } from "orrery";
 *
 * try {
 *   await memoryFiles({ "moons.txt": "Io" }).readText("stars.txt");
 * } catch (error) {
 *   if (error instanceof FileError) console.log(error.code, error.path);
 * } // => not-found stars.txt
 * ```
 */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly path: string;
  readonly code: FileErrorCode;

  constructor(message: string, options: { path: string; code: FileErrorCode; cause?: unknown }) {
    super(message, withCause(options));
    this.path = options.path;
    this.code = options.code;
  }
}

/** A finished command. */
export interface ShellResult {
  /** 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  /** Empty when it was merged into `stdout`. */
  readonly stderr: string;
  /** True when output was dropped because it was longer than `maxBytes`. */
  readonly truncated: boolean;
  /** How many bytes of output were not kept, of both streams together. */
  readonly dropped: number;
  /** True when `stop` ended it. */
  readonly stopped: boolean;
}

/** Commands. */
export interface Shell {
  /**
   * Runs a program without a shell in between. Its whole process group is ended when the signal is aborted. Its
   * environment is what `env` says and PATH, HOME, LANG and TERM of ours (or `inherit`), nothing else: no key reaches it by
   * itself.
   */
  run(command: string, options: {
    readonly args?: readonly string[];
    readonly cwd?: string;
    readonly stdin?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Which of our variables it gets, in place of PATH, HOME, LANG and TERM; `LC_*` is all that begin with `LC_`. */
    readonly inherit?: readonly string[];
    /**
     * Its stderr goes into `stdout`, and to `onOutput` as `stdout`, in the order it was written. On Windows there are two pipes, and
     * the order is that of their arrival.
     */
    readonly isMerged?: boolean;
    readonly signal?: AbortSignal;
    /** Ends it like `signal`, but is no error: what it wrote until then is the result. */
    readonly stop?: AbortSignal;
    /** Of each stream; default 1 MiB. */
    readonly maxBytes?: number;
    readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
  }): Promise<ShellResult>;
}

/** A fetched page. */
export interface HttpResponse {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** True when the body was longer than `maxBytes` and was cut. */
  readonly truncated: boolean;
}

/** What is asked for besides the URL. */
export interface HttpOptions {
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Default 10. */
  readonly maxRedirects?: number;
  /** `manual`: an answer that redirects is given as it is. Default: it is followed. */
  readonly redirect?: "follow" | "manual";
  /** Names of headers that hold a secret: like `authorization` they do not follow a redirect to another origin. */
  readonly secretHeaders?: readonly string[];
}

/** An answer whose body is still coming. */
export interface HttpStream {
  readonly status: number;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it comes, its content encoding taken off; for one loop. What breaks it is thrown in the loop. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** HTTP. Every hop is resolved, checked and then dialled at the address that was checked. */
export interface Http {
  /** The whole answer. */
  fetch(
    url: string,
    options?: HttpOptions & {
      /** Of the body. Default 5 MiB. */
      readonly maxBytes?: number;
    },
  ): Promise<HttpResponse>;
  /**
   * The answer as soon as its head is there. The connection is closed at the end of the loop over its body, when that is left, and when
   * the signal is aborted: whoever does not want the body aborts.
   */
  open(url: string, options?: HttpOptions): Promise<HttpStream>;
}

/** The person at the terminal, when there is one. */
export interface User {
  /** False when nobody can be asked: not a terminal, or `--quiet`. */
  readonly canAnswer: boolean;
  /** Asks a question and gives the line that was typed. @throws {Error} when nobody can be asked. */
  ask(
    question: string,
    options?: {
      readonly choices?: readonly string[];
      /** Other words for a choice, which are not shown. */
      readonly words?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal;
    },
  ): Promise<string>;
}

/** What somebody says of whether something may be used: `once` is for this run. */
export type GrantAnswer = "once" | "always" | "deny";

const GRANT_ANSWERS: readonly GrantAnswer[] = ["once", "always", "deny"];

/** The answer of the person at the terminal; undefined when nobody can be asked. @throws what `signal` was aborted with */
export async function askGrantAnswer(
  question: string,
  { user, signal }: { readonly user: User; readonly signal?: AbortSignal },
): Promise<GrantAnswer | undefined> {
  if (!user.canAnswer) return undefined;
  try {
    const answer = await user.ask(question, { choices: GRANT_ANSWERS, signal });
    return GRANT_ANSWERS.find((each) => each === answer) ?? "deny";
  } catch (error) {
    if (signal?.aborted) throw error;
    return "deny"; // the input ended
  }
}

/** What a run may touch. Built once in main.ts, faked in tests. */
export interface World {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly files: Files;
  readonly shell: Shell;
  /** What `RunCommand` starts programs with, where it was granted others than the scripts of documents. Default: `shell`. */
  readonly commands?: Shell;
  readonly http: Http;
  readonly user: User;
  readonly clock: Clock;
  /** For what is done without one of these ports. */
  readonly policy: Pick<Policy, "permit">;
  /** The wall clock, for `Now`: ms since 1970. */
  wallTime(): number;
}

/** Tells when files may have changed. */
export interface FileWatch {
  /**
   * Calls `onChange` after each change at one of the paths (absolute and real, also of what is not there yet), until it is disposed of.
   * It may be called for a change that was none; whoever wants to know looks at the files.
   */
  watch(paths: readonly string[], onChange: () => void): Disposable;
}

/** Knows what must not be seen, and takes it out of text before it is kept, shown or sent on. */
export interface Secrets {
  /** Shorter than 8 characters: not a secret that could be told from ordinary text; ignored. */
  add(name: string, value: string): void;
  /** The text with each secret, in every form of turn.md 3, replaced by `[secret NAME]`. The same string when there is none. */
  mask(text: string): string;
  /** The same for every string in a JSON value, keys too. The same value when there is none. */
  maskJson<T>(value: T): T;
  /** For text in pieces: holds back what may be the beginning of a secret. */
  stream(): { push(text: string): string; end(): string };
}

// Programs that run for long and are talked to over their pipes, such as MCP servers on stdio. A program that runs once and
// is waited for is a `Shell`'s.

/** How a program ended. */
export interface PipeEnd {
  /** 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
}

/** A program that runs, and its pipes. */
export interface PipeProcess {
  /** Its stdout as it comes; nothing is read ahead of what is taken, so that a program that writes too much has to wait. */
  readonly stdout: AsyncIterable<Uint8Array>;
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<PipeEnd>;
  /** Writes to its stdin, whole and in the order of the calls; comes back when the pipe has taken it. @throws {Error} when it has ended. */
  write(text: string): Promise<void>;
  /** Whether waiting for it keeps our own process alive. Default true. */
  hold(isHeld: boolean): void;
  /**
   * Ends it and everything it started: stdin is closed, then TERM, and KILL 2 s later for what is still there. With `now` there is no
   * wait between the closing and TERM. Comes back when all is gone.
   */
  end(options?: { readonly now?: boolean }): Promise<void>;
}

/** How to start a program that is talked to. */
export interface PipeOptions {
  readonly args?: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Besides PATH, HOME, LANG and TERM of ours; nothing else reaches it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** Starts programs that are talked to. */
export interface Pipes {
  /** @throws {Error} that names the program and why it cannot be started. */
  start(command: string, options: PipeOptions): PipeProcess;
}

/** A piece of a document that fits a query. */
export interface Passage {
  /** Of the document: its `metadata.name`, else its id. */
  readonly name: string;
  readonly link?: string;
  /** The id of the document. */
  readonly document: string;
  readonly text: string;
  /** Higher fits better; comparable within one answer only. */
  readonly score: number;
}

/** Documents in which passages are looked for (conversations.md 2.8). */
export interface Collection {
  /**
   * The best passages for a query, best first, at most `limit`; none when nothing fits. With `secondary` the secondary documents get half
   * of the places, the primary ones the odd one more, and a share that is not used passes over.
   *
   * @throws {Error} when the documents cannot be read, or the model of the embeddings does not answer
   */
  search(
    query: string,
    options: { readonly limit: number; readonly secondary: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly Passage[]>;
}

// What the effects of a gadget need of files, beside `Files`: bytes, and every change there is.

/** What is at a path. */
export interface FileLook {
  readonly kind: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  /** ms since 1970, as far as the system says it. */
  readonly modifiedMs?: number;
  readonly createdMs?: number;
  /** POSIX bits with the kind. */
  readonly mode?: number;
}

/** An entry of a folder; a link is told as a link, wherever it leads. */
export interface FileEntry {
  readonly name: string;
  readonly kind: FileLook["kind"];
}

/**
 * Changes of files, and looks at them, each on exactly the path given. Paths are relative to the project root or absolute; the guarded
 * form (lib/policy/guard_files.ts) follows links and judges where they lead, and what it then names here must be real: a path
 * on which a link has been put meanwhile is an error.
 *
 * Every method throws a `FileError` that names the path as it was given.
 */
export interface FileChanges {
  /** @param options.isLink at a link itself, not at what it leads to; the guarded form alone follows */
  look(path: string, options?: { readonly isLink?: boolean }): Promise<FileLook>;
  /** @throws {FileError} `too-large` when it has more than `maxBytes` */
  readBytes(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array>;
  /** The entries of a folder, sorted by name. */
  list(path: string): Promise<readonly FileEntry[]>;
  /** Whole or not at all: written beside the target, then renamed; the mode is kept. Its folder must be there. */
  writeBytes(path: string, bytes: Uint8Array): Promise<void>;
  /** At the end of the file, which is made when it is not there. What cannot be written whole is taken back. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** A file that is not there yet. @throws {FileError} `exists` */
  create(path: string, bytes: Uint8Array): Promise<void>;
  /** @param options.isRecursive with the folders on the way; one that is there is no error */
  makeFolder(path: string, options: { readonly isRecursive: boolean }): Promise<void>;
  /** A link itself, not what it leads to. @param options.isRecursive a folder with all that is in it */
  remove(path: string, options: { readonly isRecursive: boolean }): Promise<void>;
  /** A link itself; what is at the new path is replaced, unless it is a folder with something in it. */
  rename(path: string, to: string): Promise<void>;
  /** The bytes and the mode of a file, whole or not at all; what is at the new path is replaced. */
  copy(path: string, to: string): Promise<void>;
}

/** In words, for the error of a file that is larger than may be read at once. */
export function tooLargeReason(size: number, maxBytes: number): string {
  return `it has ${size} bytes, at most ${maxBytes} can be read at once`;
}

/** The words of RFC 9110 for the statuses of HTTP that are often shown. */
export const STATUS_REASONS: { readonly [status: number]: string } = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
