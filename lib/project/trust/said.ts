// What the flags that trust something stood for when they were said. Loaded where there are some, or a run goes on.
import { builtInGadgets } from "../../../gadgets/built_in.ts";
import { serverNamed } from "../../catalog/mcp/gadgets.ts";
import { filesNamed, gadgetCandidates, takenWords } from "../../catalog/trust.ts";
import { canonicalJson, sha256, toJson } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { moduleChanges } from "../../policy/decide_grant.ts";
import { shellWord } from "../../policy/refusal.ts";
import { type ProjectFlags, projectWord, settingsAt } from "../project.ts";
import type { Said } from "./grants.ts";
import { sourceHashes } from "./module_hashes.ts";

/** A flag that stands for something else now than when it was said. */
export interface ChangedFlag {
  readonly flag: string;
  /** The flag, and what has changed. */
  readonly why: string;
}

/** The flags whose meaning has changed; those that are said again mean what is there now. */
export async function changedSince(
  said: Said,
  { flags, again }: { readonly flags: ProjectFlags; readonly again: ProjectFlags },
  place: { readonly root: string; readonly cwd: string },
): Promise<readonly ChangedFlag[]> {
  const now = await saidFor(flags, place);
  const anew = new Set(Object.keys(namedBy(again)));
  return Object.entries(now).flatMap(([flag, hashes]) => {
    const changes = anew.has(flag) ? [] : moduleChanges(said[flag] ?? {}, hashes);
    return changes.length === 0 ? [] : [{ flag, why: `${flag}: ${changes.join("; ")}` }];
  });
}

/** By flag: the words of the flags that trust something; `undefined` where the flag has none. */
function namedBy(flags: ProjectFlags): Readonly<Record<string, string | undefined>> {
  const allowed = (flags["allow-gadget"] ?? []).map((value) => value.slice(0, value.indexOf("=")));
  return {
    ...(flags["trust-project"] && { "--trust-project": undefined }),
    ...(flags["trust-code"] && { "--trust-code": undefined }),
    ...Object.fromEntries(flags.trust.map((word) => [`--trust ${shellWord(word)}`, word])),
    ...Object.fromEntries(allowed.map((word) => [`--allow-gadget ${shellWord(word)}=…`, word])),
  };
}

/** What these flags stand for now. */
export async function saidFor(
  flags: ProjectFlags,
  { root, cwd }: { readonly root: string; readonly cwd: string },
): Promise<Said> {
  const named = Object.entries(namedBy(flags));
  if (named.length === 0) return {};
  const project = await settingsAt(root, { cwd });
  const disk = hostFiles({ root });
  const { parts, servers } = await projectWord(project);
  const { candidates } = await gadgetCandidates({
    cwd,
    disk,
    config: project.config,
    files: flags.gadget,
  });
  const isTaken = takenWords(Object.keys(builtInGadgets), Object.keys(servers));
  const hashOf = (value: unknown) => sha256(canonicalJson(toJson(value)));
  const hashesFor = async (
    flag: string,
    word: string | undefined,
  ): Promise<Readonly<Record<string, string>>> => {
    if (flag === "--trust-project") {
      return Object.fromEntries(Object.entries(parts).map(([part, value]) => [part, hashOf(value)]));
    }
    if (word === undefined) {
      const { promptIndex }: typeof import("../prompt_index.ts") = await import(
        "../prompt_index.ts" as string
      );
      const { modules } = await promptIndex(root, { trustsCode: false });
      const paths = [...modules.prompts, ...modules.tactics].map(({ path }) => path);
      return await sourceHashes(paths, { root, disk });
    }
    const server = serverNamed(word, Object.keys(servers));
    if (server !== undefined) return { [server]: hashOf(servers[server]) };
    const found = filesNamed(word, candidates, { root, cwd, isTaken });
    if (found.length === 0 && isTaken(word)) return {};
    // A name that only the module itself knows may be that of any.
    const files = found.length === 1 ? found : candidates;
    return await sourceHashes(files.map(({ path }) => path), { root, disk });
  };
  return Object.fromEntries(
    await Promise.all(named.map(async ([flag, word]) => [flag, await hashesFor(flag, word)] as const)),
  );
}
