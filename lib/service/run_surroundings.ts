import type { Catalog } from "../core/catalog.ts";
import type { FoundSecret } from "../project/open_run.ts";
import type { openCatalog, OpenCatalogOptions } from "../project/project.ts";
import type { Approvals } from "../run/approvals.ts";

/** What a run is opened with: who is asked, who is told, and what ends it. */
export interface RunSurroundings {
  /** For the catalogue. */
  readonly opening: Pick<
    OpenCatalogOptions,
    "user" | "approve" | "notice" | "log" | "signal" | "secrets"
  >;
  /** Whether what the project says for itself counts, when that is known already. Default: the user is asked. */
  readonly accepted?: boolean;
  /** Opens the gadgets of the project. Default: for this run alone, `openCatalog`. */
  readonly openCatalog?: typeof openCatalog;
  /** For the run; undefined when nobody can be asked. */
  readonly approvals: Approvals | undefined;
  /** What servers are given, which nobody is to see. */
  readonly found: readonly FoundSecret[];
  /** What is being opened; undefined when Ctrl-C came first. */
  unlessAborted<Value>(opening: Promise<Value>): Promise<Value | undefined>;
  /** What was opened, to be closed at the end; undefined when Ctrl-C came first, also where a module never ends loading. */
  open<Opened extends { readonly catalog: Catalog }>(
    opening: Promise<Opened>,
  ): Promise<Opened | undefined>;
}
