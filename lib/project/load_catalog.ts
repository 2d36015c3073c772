import { rootFolder } from "./root_folder.ts";
import type { Catalog } from "../core/catalog.ts";
import type { Permissions, User } from "../core/world.ts";
import { realPath } from "../host/paths.ts";
import { parsePolicyFlags } from "../policy/policy_flags.ts";
import { PERMISSION_KINDS } from "../policy/policy_settings.ts";
import type { PolicyFlag } from "../policy/policy_flags.ts";
import { NOBODY } from "./nobody.ts";
import { openCatalog, settingsAt } from "./project.ts";

/** What a catalogue is made from. */
export interface LoadCatalogOptions {
  /** The project root: a folder, absolute, relative to the working folder, or as a `file:` URL. Its `orrery.yaml` is read when there is one. */
  readonly root: string | URL;
  /** Modules of gadgets besides those of the project's folders, relative to the root or absolute. */
  readonly files?: readonly string[];
  /** Gadgets that may do all that they ask for, by name or file; and MCP servers that may be used, by name. */
  readonly trust?: readonly string[];
  /** Lets what `orrery.yaml` itself grants count. Default false: only when the user accepted it before. */
  readonly trustProject?: boolean;
  /** What built-in gadgets may do beyond reading the root and writing its `.orrery/`; paths are relative to the root. */
  readonly allow?: Permissions;
  /** What they may not do, whatever is allowed. */
  readonly deny?: Permissions;
  /** Who answers `AskUser`. Default: nobody can be asked. */
  readonly user?: User;
  /** Told what was ignored, a line each. */
  readonly onNotice?: (text: string) => void;
  /** Ends what the gadgets run on, as the catalogue's `close` does. */
  readonly signal?: AbortSignal;
}

/**
 * The catalogue of a project: the built-in gadgets, those of its folders, of its MCP servers, and `files` (gadgets.md 2). A module is never
 * imported into this process, but for one of `isolation: none`: it is looked at, and called, in a process of its own that has no rights. What it
 * asks for is granted by `trust`, by settings or by `orrery.lock`, else by `user`; without a grant its calls are refused. A server that is not
 * trusted is not started. What was started runs until the catalogue is closed: `await catalog.close?.()`.
 *
 * @throws {ProblemsError} for two gadgets of one name, a missing file or folder, a name in `trust` that fits nothing, and for mistakes in
 * `orrery.yaml`
 *
 * ```ts
 * import { loadCatalog, runCalls } from "orrery";
 *
 * const catalog = await loadCatalog({ root: "examples/report", allow: { write: ["out"] } });
 * console.log(catalog.maybeFind("WriteFile")?.state); // => ready
 * for await (const event of runCalls(["!!!GADGET_START:ReadFile\n!!!ARG:path\ndata/west.json\n"], { catalog })) {
 *   if (event.type === "run-end") console.log(event.status); // => done
 * }
 * ```
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const { files = [], trust = [], trustProject = false, user = NOBODY, onNotice = () => undefined, signal } =
    options;
  const root = realPath(rootFolder(options.root));
  const { catalog } = await openCatalog(await settingsAt(root, { cwd: root }), {
    flags: { gadget: files, trust, "trust-project": trustProject },
    settings: parsePolicyFlags([...flagsOf("allow", options.allow), ...flagsOf("deny", options.deny)]),
    user,
    notice: onNotice,
    signal,
  });
  return catalog;
}

function flagsOf(verb: "allow" | "deny", permissions: Permissions = {}): PolicyFlag[] {
  return PERMISSION_KINDS.flatMap((kind): PolicyFlag[] => {
    const name = `${verb}-${kind}`;
    const wanted = permissions[kind] ?? [];
    return wanted === true
      ? [{ name, value: true }]
      : wanted.map((item) => ({ name, value: item.replaceAll(",", ",,") }));
  });
}
