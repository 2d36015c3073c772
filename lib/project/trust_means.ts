import { gadgetCandidates } from "../catalog/gadget_candidates.ts";
import { foldName } from "../catalog/catalog_of.ts";
import { filesNamed, type TrustCandidate, wordProblem } from "../catalog/trust.ts";
import type { GadgetToGrant, UsedPermissions } from "../core/gadget_lock.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { hostFiles } from "../host/files.ts";
import { stateFolder } from "../host/paths.ts";
import { gadgetUse } from "./gadget_use.ts";
import { LockKeeper } from "./lock_keeper.ts";
import { NOBODY } from "./nobody.ts";
import { loadSandbox } from "./open_sandbox.ts";
import type { ProjectSettings } from "./project.ts";
import type { SandboxedGadgets } from "./sandboxed_gadgets.ts";

/** What `orrery trust` needs besides the lock. */
export interface TrustMeans {
  /**
   * The gadgets that these words name, as they are now: described without any permission.
   *
   * @param files gadget modules besides those of the project's folders
   * @throws {SourceError} or {ProblemsError} for a word that names none, or several, and for a gadget that cannot be described
   */
  describe(names: readonly string[], files: readonly string[]): Promise<readonly GadgetToGrant[]>;
  readonly used: UsedPermissions;
}

/** The means of this machine. @param notice told what is odd about a gadget */
export function trustMeans(project: ProjectSettings, notice: (text: string) => void): TrustMeans {
  return {
    describe: (names, files) => describe(names, { project, files, notice }),
    used: {
      async of(gadget) {
        const folder = stateFolder();
        if (folder === undefined) return { calls: 0, used: [] };
        return await gadgetUse(gadget, { root: project.root, state: hostFiles({ root: folder }) });
      },
    },
  };
}

interface DescribeOptions {
  readonly project: ProjectSettings;
  readonly files: readonly string[];
  readonly notice: (text: string) => void;
}

async function describe(
  names: readonly string[],
  { project, files, notice }: DescribeOptions,
): Promise<readonly GadgetToGrant[]> {
  const { root, cwd, config } = project;
  const { candidates, problems } = await gadgetCandidates({
    cwd,
    disk: hostFiles({ root }),
    config,
    options: { files },
  });
  if (problems.length > 0) throw new ProblemsError(problems);
  const keeper = new LockKeeper({ ...project, parts: {}, projectAccepted: false, notice });
  const sandbox = await loadSandbox(project, {
    candidates,
    flags: { gadget: files, trust: [], "trust-project": false, ephemeral: true },
    user: NOBODY,
    notice,
    projectAccepted: false,
    keeper: () => Promise.resolve(keeper),
  });
  try {
    const gadgets: GadgetToGrant[] = [];
    for (const name of names) gadgets.push(await new Described(sandbox, { project, candidates }).named(name));
    return [...new Map(gadgets.map((gadget) => [gadget.file, gadget])).values()];
  } finally {
    await sandbox.close();
  }
}

class Described {
  readonly #sandbox: SandboxedGadgets;
  readonly #project: ProjectSettings;
  readonly #candidates: readonly TrustCandidate[];

  constructor(
    sandbox: SandboxedGadgets,
    { project, candidates }: {
      readonly project: ProjectSettings;
      readonly candidates: readonly TrustCandidate[];
    },
  ) {
    this.#sandbox = sandbox;
    this.#project = project;
    this.#candidates = candidates;
  }

  /** By its file, its stem or the name in its text; else by the name that it has once it is looked at. @throws {SourceError} */
  async named(word: string): Promise<GadgetToGrant> {
    const found = filesNamed(word, this.#candidates, this.#project);
    const [first] = found;
    if (first !== undefined && found.length === 1) return await this.#sandbox.describe(first);
    const alike = found.length > 0 ? [] : await this.#called(word);
    const [gadget] = alike;
    if (gadget !== undefined && alike.length === 1) return gadget;
    throw wordProblem(word, found, this.#candidates);
  }

  async #called(word: string): Promise<readonly GadgetToGrant[]> {
    const all = await Promise.all(
      this.#candidates.map((file) => this.#sandbox.describe(file).catch(() => undefined)),
    );
    return all.filter((gadget) => gadget !== undefined)
      .filter(({ name }) => foldName(name) === foldName(word));
  }
}
