import { basename, join, relative } from "../core/path.ts";
import { didYouMean } from "../core/nearest.ts";
import { SourceError } from "../core/source_error.ts";
import { foldName } from "./catalog_of.ts";
import type { GadgetFile } from "./gadget_file.ts";

/** A gadget file, and the name that its text seems to give its gadget. */
export interface TrustCandidate extends GadgetFile {
  readonly declared: string | undefined;
}

/** What names are relative to. */
export interface TrustOptions {
  readonly root: string;
  readonly cwd: string;
}

/**
 * The files that a trusted name stands for: a path as it is, else a path, file or stem with case, `_` and `-` ignored, else the
 * name that a text gives its gadget. More than one means that the name does not tell which.
 */
export function filesNamed(
  name: string,
  candidates: readonly TrustCandidate[],
  { root, cwd }: TrustOptions,
): readonly TrustCandidate[] {
  const paths = [name, join(cwd, name), join(root, name)];
  const folded = foldName(name.replace(/^\.\//, ""));
  const steps: readonly ((candidate: TrustCandidate) => boolean)[] = [
    ({ path }) => paths.includes(path),
    ({ path, stem }) =>
      [relative(root, path), relative(cwd, path), basename(path), stem].map(foldName).includes(folded),
    ({ declared }) => declared !== undefined && foldName(declared) === folded,
  ];
  for (const fits of steps) {
    const found = candidates.filter(fits);
    if (found.length > 0) return found;
  }
  return [];
}

/** `--trust NAME` does not tell which file is meant, or that none is. */
export function trustProblem(
  name: string,
  found: readonly TrustCandidate[],
  candidates: readonly TrustCandidate[],
): SourceError {
  return wordProblem(name, found, candidates, { flag: "--trust " });
}

/** What a word stood behind, and what it could have meant besides gadgets. */
export interface WordOptions {
  /** With the space behind it. Default: none. */
  readonly flag?: string;
  /** What stands behind the word, such as `=KIND`. Default: nothing. */
  readonly ending?: string;
  /** Names of servers. Default: none. */
  readonly servers?: readonly string[];
}

/** A word does not tell which gadget file is meant, or that none is. */
export function wordProblem(
  name: string,
  found: readonly TrustCandidate[],
  candidates: readonly TrustCandidate[],
  { flag = "", ending = "", servers = [] }: WordOptions = {},
): SourceError {
  if (found.length > 1) {
    const files = found.map(({ file }) => file).join(" and ");
    return new SourceError(`Cannot tell what ${flag}${name} means: it fits ${files}`, {
      code: "E-trust",
      hint: `Name the file: ${flag}${found[0]?.file}${ending}`,
    });
  }
  const known = [
    ...candidates.map(({ stem }) => stem),
    ...candidates.flatMap(({ declared }) => declared ?? []),
    ...servers,
  ];
  const list = candidates.length === 0
    ? "there is no gadget file here"
    : `the gadget files here are ${listed(candidates)}`;
  const what = servers.length === 0 ? "gadget" : "gadget or MCP server";
  const others = servers.length === 0 ? "" : `, and the servers ${servers.join(", ")}`;
  return new SourceError(`No ${what} for ${flag}${name}: ${list}${others}.${didYouMean(name, known)}`, {
    code: "E-trust",
  });
}

function listed(candidates: readonly TrustCandidate[]): string {
  const files = candidates.slice(0, 8).map(({ file }) => file).join(", ");
  return candidates.length > 8 ? `${files} and ${candidates.length - 8} more` : files;
}
