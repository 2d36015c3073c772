import { join } from "../core/path.ts";
import { didYouMean } from "../core/nearest.ts";
import { SourceError } from "../core/source_error.ts";
import { foldName } from "./catalog_of.ts";
import type { CatalogSite } from "./catalog_site.ts";
import { COMMAND_NAMES } from "./config.ts";
import { shownPath } from "./shown_path.ts";
import { filesNamed, type TrustCandidate, trustProblem, wordProblem } from "./trust.ts";

/** Who may be loaded: by the command line, by the user's own grants, and by the project's when it was accepted. */
export function trustedFiles(
  candidates: readonly TrustCandidate[],
  site: CatalogSite,
): { readonly files: ReadonlySet<TrustCandidate>; readonly problems: readonly SourceError[] } {
  const files = new Set<TrustCandidate>();
  const problems: SourceError[] = [];
  const builtIns = Object.keys(site.options.builtIns).map(foldName);
  for (const name of site.options.trust ?? []) {
    const found = filesNamed(name, candidates, site);
    if (found.length === 1) found.forEach((file) => files.add(file));
    else if (found.length > 1 || !builtIns.includes(foldName(name))) {
      problems.push(trustProblem(name, found, candidates));
    }
  }
  for (const name of new Set(site.options.allowed ?? [])) {
    const found = filesNamed(name, candidates, site);
    if (found.length === 1) continue;
    problems.push(
      found.length === 0 && builtIns.includes(foldName(name))
        ? builtInProblem(name)
        : wordProblem(name, found, candidates, { flag: "--allow-gadget ", ending: "=KIND" }),
    );
  }
  for (const [name, grant] of grantedNames(site)) {
    const found = filesNamed(name, candidates, site);
    if (found.length === 0 && COMMANDS.has(name)) continue; // what starts programs: the world of a run knows it
    if (found.length !== 1) noticeGrant(name, { found, candidates, site });
    else if (grant === "trusted") found.forEach((file) => files.add(file));
  }
  return { files, problems };
}

const COMMANDS: ReadonlySet<string> = new Set(COMMAND_NAMES);

function builtInProblem(name: string): SourceError {
  return new SourceError(`--allow-gadget ${name}: it is built in, and may do what the run may`, {
    code: "E-trust",
    hint:
      "What the run may do is said with --allow-read, --allow-write, --allow-net, --allow-run and --allow-env.",
  });
}

function grantedNames(
  { config, options, root, cwd, notice }: CatalogSite,
): readonly (readonly [name: string, grant: unknown])[] {
  const asked = Object.keys(config.project.parts);
  const accepted = options.projectAccepted ?? false;
  if (asked.length > 0 && !accepted) {
    const file = shownPath(join(root, "orrery.yaml"), cwd);
    notice(
      `${file}: ${
        asked.join(", ")
      } count as absent, since you have not accepted this project; --trust-project accepts it`,
    );
  }
  const grants = { ...(accepted ? config.project.grants : {}), ...config.grants };
  return Object.entries(grants);
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
  const near = didYouMean(name, candidates.map(({ stem }) => stem));
  if (found.length > 1) {
    site.notice(
      `The grant of "${name}" counts for nothing: it fits ${found.map(({ file }) => file).join(" and ")}`,
    );
  } else if (near !== "") {
    site.notice(`The grant of "${name}" counts for nothing: no gadget file has that name.${near}`);
  }
}
