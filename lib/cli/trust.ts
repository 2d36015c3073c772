import { nearestName } from "../core/nearest.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { printable } from "../render/shown_text.ts";
import { openSettings } from "../project/project.ts";
import { type TrustMeans, trustMeans } from "../project/trust_means.ts";
import { UsageError } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { allowForGood, denyAgain, minimise, type TrustChange } from "./trust_change.ts";
import { trustList, trustPage } from "./trust_list.ts";

type TrustCommand = ParsedCommand<typeof COMMANDS.trust>;

/** `orrery trust`: what is allowed for good; gives the exit code. @param means default: those of this machine */
export async function trust(
  { words, flags }: TrustCommand,
  terminal: Terminal,
  means?: TrustMeans,
): Promise<number> {
  const { action, names } = wantedOf(words, flags);
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  const change: TrustChange = {
    project,
    names,
    files: flags.gadget,
    trustsProject: flags["trust-project"],
    isSure: flags.yes,
    terminal,
    means: means ??
      trustMeans(project, (text) => void terminal.stderr.write(`warning: ${printable(text)}\n`)),
  };
  switch (action) {
    case "allow":
      return await allowForGood(change);
    case "deny":
      return await denyAgain(change);
    case "minimise":
      return await minimise(change);
    case "list":
      return await trustList(project, { asJson: flags.json, terminal });
    case "show":
      return await trustPage(names[0] ?? "", { project, asJson: flags.json, terminal });
    default:
      return action satisfies never;
  }
}

type Action = "list" | "show" | "allow" | "deny" | "minimise";

function wantedOf(
  words: readonly string[],
  { json, minimise, yes }: TrustCommand["flags"],
): { readonly action: Action; readonly names: readonly string[] } {
  const [first, ...rest] = words;
  const usage = (problem: string) => new UsageError([problem], { command: "trust" });
  const isChange = first === "allow" || first === "deny";
  if (json && (minimise || isChange)) throw usage("--json belongs to the list: orrery trust --json");
  if (yes && !minimise) throw usage("--yes belongs to --minimise: nothing else asks");
  if (minimise) {
    if (isChange) throw usage(`--minimise takes names of gadgets only; found "${first}" too`);
    return { action: "minimise", names: words };
  }
  if (isChange) {
    if (rest.length === 0) {
      throw usage(
        `orrery trust ${first} needs NAME: the gadget, its file or the stem of it, or the MCP server`,
      );
    }
    return { action: first, names: rest };
  }
  if (rest.length > 0) {
    const near = nearestName(first ?? "", ["allow", "deny"]);
    const meant = near === undefined ? `allow ${words.join(" ")}` : `${near} ${rest.join(" ")}`;
    throw usage(
      `orrery trust shows one gadget; found "${rest[0]}" too. To change something: orrery trust ${meant}`,
    );
  }
  return first === undefined ? { action: "list", names: [] } : { action: "show", names: [first] };
}
