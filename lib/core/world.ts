import type { Clock } from "./clock.ts";
import type { Policy } from "./permission.ts";

/** What is at a path. */
export interface FileInfo {
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
}

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
export type FileErrorCode = "not-found" | "is-folder" | "not-folder" | "not-text" | "denied" | "other";

/** A file could not be used; the message names the path as the user gave it, and what to do. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly path: string;
  readonly code: FileErrorCode;

  constructor(message: string, options: { path: string; code: FileErrorCode; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.path = options.path;
    this.code = options.code;
  }
}

/** A finished command. */
export interface ShellResult {
  /** 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when output was dropped because it was longer than `maxBytes`. */
  readonly truncated: boolean;
}

/** Commands. */
export interface Shell {
  /**
   * Runs a program without a shell in between. Its whole process group is ended when the signal is aborted. Its
   * environment is what `env` says and PATH, HOME, LANG and TERM of ours, nothing else: no key reaches it by itself.
   */
  run(command: string, options: {
    readonly args?: readonly string[];
    readonly cwd?: string;
    readonly stdin?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
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

/** HTTP. Every hop is resolved, checked and then dialled at the address that was checked. */
export interface Http {
  fetch(url: string, options?: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal?: AbortSignal;
    /** Default 5 MiB. */
    readonly maxBytes?: number;
    /** Default 10. */
    readonly maxRedirects?: number;
  }): Promise<HttpResponse>;
}

/** The person at the terminal, when there is one. */
export interface User {
  /** False when nobody can be asked: not a terminal, or `--quiet`. */
  readonly canAnswer: boolean;
  /** Asks a question and gives the line that was typed. @throws {Error} when nobody can be asked. */
  ask(
    question: string,
    options?: { readonly choices?: readonly string[]; readonly signal?: AbortSignal },
  ): Promise<string>;
}

/** What a run may touch. Built once in main.ts, faked in tests. */
export interface World {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly files: Files;
  readonly shell: Shell;
  readonly http: Http;
  readonly user: User;
  readonly clock: Clock;
  readonly policy: Policy;
  /** The wall clock, for `Now`: ms since 1970. */
  wallTime(): number;
  /** A variable of the environment, checked by the policy. */
  env(name: string): string | undefined;
}
