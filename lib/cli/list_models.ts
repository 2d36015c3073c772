import { hostEnv } from "../host/process.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import type { ModelList } from "../models/model_list.ts";
import { isAcceptedHere } from "../project/accepted_here.ts";
import { openProjectModels } from "../project/open_models.ts";
import { openSettings } from "../project/project.ts";
import { printableLine } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { EXIT } from "../service/exit_code.ts";

/** `orrery list models`: what can be asked, and what is missing for it; contacts nobody. */
export async function listModels(
  flags: { readonly json: boolean; readonly names: boolean },
  terminal: Terminal,
): Promise<number> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  const list = openProjectModels({ ...project, isAccepted: await isAcceptedHere(project) }).list();
  if (flags.names) await terminal.stdout.write(namesOf(list).map((name) => `${name}\n`).join(""));
  else if (flags.json) {
    await terminal.stdout.write(`${JSON.stringify({ ...list, chosen: chosenOf(list) ?? null }, null, 2)}\n`);
  } else await terminal.stdout.write(pageOf(list));
  return EXIT.ok;
}

/** What can be typed behind `--model`; an id may hold anything, and a script reads a word a line. */
function namesOf({ aliases, known, providers, offline }: ModelList): readonly string[] {
  const usable = new Set(
    providers.filter(({ keyVariables, hasKey }) => hasKey || keyVariables.length === 0).map(({ name }) =>
      name
    ),
  );
  const ids = known.map(({ id }) => id).filter((id) => usable.has(id.slice(0, id.indexOf("/"))));
  const fixed = offline.map(({ id }) => id).filter((id) => !id.endsWith("FILE"));
  return [...aliases.map(({ name }) => name), ...ids, ...fixed].filter((name) => /^[\w./:@+-]+$/.test(name));
}

function chosenOf(list: ModelList): string | undefined {
  return hostEnv("ORRERY_MODEL")?.trim() || list.default;
}

function pageOf(list: ModelList): string {
  const variable = hostEnv("ORRERY_MODEL")?.trim();
  const chosen = chosenOf(list);
  const from = variable ? "ORRERY_MODEL" : "models.default";
  const sections = [
    chosen === undefined
      ? "Default: none; set models.default in orrery.yaml, or ORRERY_MODEL"
      : printableLine(`Default: ${chosen} (${from})`),
    section("Aliases", [
      ["ALIAS", "MODEL", "FALLBACK"],
      ...list.aliases.map(({ name, id, fallback }) => [name, id, fallback.join(", ")]),
    ]),
    section("Providers", [
      ["PROVIDER", "TYPE", "KEY", "ADDRESS"],
      ...list.providers.map((provider) => [
        provider.name,
        provider.type,
        keyWord(provider),
        provider.baseURL,
      ]),
    ]),
    section("Without a provider", [["MODEL", ""], ...list.offline.map(({ id, about }) => [id, about])]),
  ];
  return sections.filter((text) => text !== "").join("\n\n") + "\n";
}

function keyWord({ keyVariables, hasKey }: ModelList["providers"][number]): string {
  if (hasKey) return "set";
  return keyVariables.length === 0 ? "none needed" : `missing: ${keyVariables.join(" or ")}`;
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length < 2) return "";
  return `${title}\n${table(rows.map((row) => row.map(printableLine))).join("\n")}`;
}
