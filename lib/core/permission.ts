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

/** Something was not allowed. The message names what was asked for and the flag that would allow it. */
export class PermissionRefused extends Error {
  override readonly name = "PermissionRefused";
  readonly request: PermissionRequest;
  /** The flag that would allow it, ready to be typed: `--allow-write=out`. */
  readonly flag: string;

  constructor(message: string, options: { request: PermissionRequest; flag: string }) {
    super(message);
    this.request = options.request;
    this.flag = options.flag;
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
