// Whether a gadget of a module may run on this machine, and what it may do then: what was said before, else the person at the terminal
// (gadgets.md 3). `always` is written to `orrery.lock`.
import { basename, extname } from "node:path";
import { builtInGadgets } from "../../../gadgets/built_in.ts";
import type { Config } from "../../catalog/config/config.ts";
import {
  canonicalJson,
  type EntryGrant,
  type GadgetToGrant,
  type JsonObject,
  LOCK_FILE,
  type LockedGadget,
  messageOf,
  type PermissionRefused,
  type Permissions,
  shownPath,
  SourceError,
  type User,
} from "../../core/core.ts";
import { filesNamed, takenWords, type TrustCandidate } from "../../catalog/trust.ts";
import { sightOf } from "../../host/paths.ts";
import { askGrant, grantRefused } from "../../policy/ask_grant.ts";
import {
  decideGrant,
  type GrantDecision,
  type GrantSource,
  lockedGadget,
  maybeLocked,
} from "../../policy/decide_grant.ts";
import {
  type GadgetGrant,
  grantProblems,
  parseGadgetGrants,
  type WrittenGrant,
} from "../../policy/gadget_grants.ts";
import type { PolicySettings } from "../../policy/policy_settings.ts";
import { shellWord } from "../../policy/refusal.ts";
import { gadgetPlace, LockKeeper, type ProjectLock } from "./lock.ts";

/** The answer for one gadget. */
export type Grant =
  | {
    readonly kind: "granted";
    /** For `gadgetPolicy`: paths absolute, or relative to the project root. */
    readonly permissions: Permissions;
    /** Empty for a gadget that asks for nothing and was granted nothing. */
    readonly from: readonly GrantSource[];
  }
  /** Its calls end with this: the code `permission`, exit code 5; `error.flag` would help, and is empty when it was denied. */
  | { readonly kind: "refused"; readonly code: "permission"; readonly error: PermissionRefused };

/** Who decides. */
export interface GrantMeansOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly cwd: string;
  readonly config: Pick<Config, "grants" | "project">;
  /** Whether what the project says for itself counts, its lock too. */
  readonly projectAccepted: boolean;
  /** The lock of the project, when there is one. */
  readonly lock?: ProjectLock;
  /** The same lock, where others use it too. Default: one of its own, with `lock` and `parts`. */
  readonly keeper?: LockKeeper;
  /** Every part that has to be accepted, by name, as the acceptance has them: `.mcp.json` too. Default: those of `config`. */
  readonly parts?: JsonObject;
  /** Where only settings grant programs, no flag grants a gadget either. Default: the flags do. */
  readonly settings?: Pick<PolicySettings, "runsByGrant">;
  readonly flags: {
    readonly trust: readonly string[];
    readonly "allow-gadget"?: readonly string[];
    readonly frozen?: boolean;
  };
  /** Every gadget file of the project, so that a name which fits two of them grants nothing. Default: the gadget alone. */
  readonly candidates?: readonly TrustCandidate[];
  /** Every MCP server that is configured: its name means no gadget. Default: none. */
  readonly serverNames?: readonly string[];
  readonly user: User;
  /** Told what was not kept, a line each. */
  readonly notice: (text: string) => void;
  readonly signal?: AbortSignal;
  /** Accepts what the project says for itself, once the lock was written. Default: kept in the user's state folder. */
  readonly accept?: (parts: JsonObject) => Promise<void>;
}

/** What was said of gadgets, what was answered, and the lock as it is now. */
export class GrantMeans {
  readonly #options: GrantMeansOptions;
  readonly #allowed: readonly GadgetGrant[];
  readonly #answers = new Map<string, Promise<Grant>>();
  /** The lock, for servers too. */
  readonly keeper: LockKeeper;
  readonly #isTaken: (word: string) => boolean;

  /** @throws {SourceError} that names the flag, for an `--allow-gadget` that cannot be read */
  constructor(options: GrantMeansOptions) {
    this.#options = options;
    const { parts = options.config.project.parts } = options;
    this.keeper = options.keeper ?? new LockKeeper({ ...options, parts });
    this.#isTaken = takenWords(Object.keys(builtInGadgets), options.serverNames ?? []);
    this.#allowed = parseGadgetGrants(options.flags["allow-gadget"] ?? [], options);
  }

  /** What was said before of a gadget; nobody is asked. */
  known(gadget: GadgetToGrant): EntryGrant {
    const decision = this.#decided(gadget, false);
    if (decision.kind !== "granted") return { state: "open", from: [], changes: decision.changes };
    const { from, permissions } = decision;
    if (from.length === 0) return { state: "not-needed", from, changes: [] };
    return { state: "granted", from, changes: [], permissions };
  }

  /** What a user writes who means this gadget, and no other: its name, else its file. */
  wordFor(gadget: GadgetToGrant): string {
    return this.#names(gadget.name, gadget) ? gadget.name : shownPath(gadget.file, this.#options.cwd);
  }

  /** @throws {SourceError} for a manifest that cannot be read, and with `--frozen` for what is not as the lock has it */
  grantFor(gadget: GadgetToGrant): Promise<Grant> {
    const key = canonicalJson(gadget);
    const answer = this.#answers.get(key) ?? this.#decide(gadget);
    this.#answers.set(key, answer);
    return answer;
  }

  /** Allows gadgets for good, without asking: `orrery trust allow`. @throws {SourceError} when the lock was changed meanwhile */
  async keep(gadgets: readonly LockedGadget[]): Promise<void> {
    const names = new Set(gadgets.flatMap(({ name, file }) => [name, `\0${file}`]));
    await this.keeper.change(({ gadgets: others, servers }) => ({
      gadgets: [
        ...others.filter(({ name, file }) => !names.has(name) && !names.has(`\0${file}`)),
        ...gadgets,
      ],
      servers,
    }));
  }

  async #decide(gadget: GadgetToGrant): Promise<Grant> {
    checkManifest(gadget, this.#options.cwd);
    const decision = this.#decided(gadget, this.#options.flags.frozen ?? false);
    switch (decision.kind) {
      case "granted":
        return decision;
      case "frozen":
        throw this.#frozen(gadget, decision.changes);
      case "open":
        return await this.#ask(gadget, decision.changes);
      default:
        return decision satisfies never;
    }
  }

  #decided(gadget: GadgetToGrant, isFrozen: boolean): GrantDecision {
    const { root, config } = this.#options;
    return decideGrant(gadget, {
      commandLine: this.#commandLine(gadget),
      user: this.#grantsIn(config.grants, gadget),
      project: this.keeper.isAccepted ? this.#grantsIn(config.project.grants, gadget) : [],
      locked: maybeLocked(this.keeper.counting.gadgets, gadget, { root }),
      isFrozen,
    }, { root });
  }

  async #ask(gadget: GadgetToGrant, changes: readonly string[]): Promise<Grant> {
    const { root, cwd, user, signal, settings } = this.#options;
    const question = {
      gadget,
      root,
      sightOf,
      cwd,
      changes,
      shownFile: shownPath(gadget.file, cwd),
      word: this.wordFor(gadget),
      allowing: this.#allowing(gadget),
    };
    const answer = await askGrant(question, { user, signal });
    if (answer === undefined || answer === "deny") {
      const { absence } = this.keeper;
      const hint = absence === undefined ? {} : { hint: `; ${absence}` };
      const hasFlags = settings?.runsByGrant !== true;
      const error = grantRefused(question, { isDenied: answer === "deny", hasFlags, ...hint });
      return { kind: "refused", code: "permission", error };
    }
    if (answer === "always") await this.#keepAnswer(gadget);
    return { kind: "granted", permissions: gadget.permissions, from: ["your answer"] };
  }

  /** What was allowed is allowed, also where it cannot be kept. */
  async #keepAnswer(gadget: GadgetToGrant): Promise<void> {
    try {
      await this.keep([lockedGadget(gadget, this.#options)]);
    } catch (error) {
      this.#options.notice(
        `Gadget ${JSON.stringify(gadget.name)} is allowed for this run only: ${messageOf(error)}`,
      );
    }
  }

  #commandLine(gadget: GadgetToGrant): readonly WrittenGrant[] {
    const trusted = this.#options.flags.trust.some((name) => this.#names(name, gadget));
    const allowed = this.#allowed.filter(({ name }) => this.#names(name, gadget));
    return [...(trusted ? ["trusted" as const] : []), ...allowed.map(({ permissions }) => permissions)];
  }

  #grantsIn(grants: Config["grants"], gadget: GadgetToGrant): readonly WrittenGrant[] {
    return Object.entries(grants).filter(([name]) => this.#names(name, gadget)).map(([, grant]) => grant);
  }

  /** Whether a word of the user's means this gadget, and no other. */
  #names(word: string, gadget: GadgetToGrant): boolean {
    const { root, cwd, candidates = [] } = this.#options;
    const others = candidates.filter(({ path }) => path !== gadget.file);
    const named = { root, cwd, isTaken: this.#isTaken };
    const found = filesNamed(word, [...others, candidateOf(gadget, cwd)], named);
    return found.length === 1 && found[0]?.path === gadget.file;
  }

  /** The command that allows a gadget as it is now: one of no folder of the project has to be named to it again. */
  #allowing(gadget: GadgetToGrant): string {
    const { cwd, candidates = [] } = this.#options;
    const isOwnFile = candidates.some(({ path, source }) => path === gadget.file && source.kind === "file");
    const more = isOwnFile ? ` --gadget ${shellWord(shownPath(gadget.file, cwd))}` : "";
    return `orrery trust allow ${shellWord(this.wordFor(gadget))}${more}`;
  }

  #frozen(gadget: GadgetToGrant, changes: readonly string[]): SourceError {
    const { lock, absence } = this.keeper;
    return frozenError(gadget.name, {
      changes,
      lock,
      hint: absence !== undefined
        ? `${absence}: add --trust-project.`
        : `${this.#allowing(gadget)} allows it as it is now.`,
    });
  }
}

/** Whether what a manifest asks for can be read. @throws {SourceError} */
export function checkManifest({ name, file, permissions }: GadgetToGrant, cwd: string): void {
  const [first] = grantProblems(permissions);
  if (first === undefined) return;
  const [kind, index] = first.path;
  const where = `${shownPath(file, cwd)}: permissions.${kind}[${index}] of gadget ${JSON.stringify(name)}`;
  throw new SourceError(`${where}: ${first.problem}`, {
    code: "E-gadget",
    hint: "Change it in the gadget.",
  });
}

/** What `--frozen` says of a gadget that is not as the lock has it. */
export function frozenError(
  name: string,
  { changes, lock, hint }: {
    readonly changes: readonly string[];
    readonly lock: ProjectLock | undefined;
    readonly hint: string;
  },
): SourceError {
  const span = lock === undefined ? undefined : gadgetPlace(lock, name);
  return new SourceError(
    `--frozen: gadget ${JSON.stringify(name)} is not as ${lock?.file ?? LOCK_FILE} has it: ${
      changes.join("; ")
    }`,
    { code: "E-lock", hint, ...(span && lock && { span, source: lock.text }) },
  );
}

function candidateOf({ name, file }: GadgetToGrant, cwd: string): TrustCandidate {
  const shown = shownPath(file, cwd);
  return {
    path: file,
    file: shown,
    stem: basename(file, extname(file)),
    source: { kind: "project", file: shown },
    declared: name,
  };
}
