import { join } from "node:path";
import { SourceError } from "../core/source_error.ts";
import type { CatalogSite } from "./catalog_site.ts";
import type { Config } from "./config.ts";
import { shownPath } from "./shown_path.ts";
import { filesNamed, type TrustCandidate, trustProblem, wordMeant, wordProblem } from "./trust.ts";

/** Who may be loaded here: by the command line, by the user's own grants, and by the project's when it was accepted. */
export function trustedFiles(
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): ReadonlySet<TrustCandidate> {
  const trusted = Object.entries(grantsOf(site)).filter(([, grant]) => grant === "trusted");
  const words = [...site.options.trust ?? [], ...trusted.map(([word]) => word)];
  return new Set(
    words.map((word) => filesNamed(word, candidates, site)).flatMap((found) =>
      found.length === 1 ? found : []
    ),
  );
}

/** What is wrong with the words of the command line; of grants that fit nothing the user is told. @param candidates with their real names, as far as they are known */
export function wrongWords(
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): readonly SourceError[] {
  const { trust = [], allowed = [] } = site.options;
  const problems: SourceError[] = [];
  for (const name of trust) {
    const found = filesNamed(name, candidates, site);
    if (found.length !== 1 && !site.isTaken(name)) problems.push(trustProblem(name, found, candidates));
  }
  for (const name of new Set(allowed)) {
    const found = filesNamed(name, candidates, site);
    if (found.length === 1) continue;
    problems.push(
      site.isTaken(name)
        ? takenProblem(name)
        : wordProblem(name, found, candidates, { flag: "--allow-gadget ", ending: "=KIND" }),
    );
  }
  noticeAbsence(site);
  for (const name of Object.keys(grantsOf(site))) {
    const found = filesNamed(name, candidates, site);
    // What is taken the world of a run and the servers know.
    if (found.length !== 1 && !site.isTaken(name)) noticeGrant(name, { found, candidates, site });
  }
  return problems;
}

function takenProblem(name: string): SourceError {
  return new SourceError(
    `--allow-gadget ${name}: that is built in, or an MCP server, and no gadget of a module`,
    {
      code: "E-trust",
      hint:
        "What is built in may do what the run may: --allow-read, --allow-write, --allow-net, --allow-run and --allow-env. A gadget of a module " +
        "that is called so is named by its file.",
    },
  );
}

function noticeAbsence({ config, options, root, cwd, notice }: CatalogSite): void {
  const asked = Object.keys(config.project.parts);
  if (asked.length === 0 || options.projectAccepted) return;
  const file = shownPath(join(root, "orrery.yaml"), cwd);
  notice(
    `${file}: ${
      asked.join(", ")
    } count as absent, since you have not accepted this project; --trust-project accepts it`,
  );
}

/** The grants that count: the user's own before those of the project. */
export function grantsOf({ config, options }: Pick<CatalogSite, "config" | "options">): Config["grants"] {
  return { ...(options.projectAccepted ? config.project.grants : {}), ...config.grants };
}

/** A grant may be for a gadget of another project or of an MCP server: only a likely mistake is worth a word. */
function noticeGrant(
  name: string,
  { found, candidates, site }: {
    readonly found: readonly TrustCandidate[];
    readonly candidates: readonly TrustCandidate[];
    readonly site: CatalogSite;
  },
): void {
  const near = wordMeant(name, candidates);
  if (found.length > 1) {
    site.notice(
      `The grant of "${name}" counts for nothing: it fits ${found.map(({ file }) => file).join(" and ")}`,
    );
  } else if (near !== "") {
    site.notice(`The grant of "${name}" counts for nothing: no gadget file has that name.${near}`);
  }
}
