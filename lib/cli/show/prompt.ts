import type { AgentProfile } from "../../catalog/agent_profile.ts";
import { isRecord, toJson } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { App } from "../../service/app.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";
import { DEFAULT_LIMITS } from "../../prompt/limits.ts";
import { printable, printableLine } from "../../render/shown_text.ts";
import { table } from "../../render/cells.ts";
import { asNamed, typedValues } from "../../service/input/checked_input.ts";
import { promptInput } from "../../service/input/prompt_input.ts";
import { hiddenSecrets, profileData } from "../../service/look/profiles.ts";
import {
  type PromptAnswer,
  type PromptJson,
  promptJson,
  type PromptTool,
  promptTools,
} from "../../service/kinds/prompt/look.ts";
import { findProfile, findPrompt, typedProblems } from "../../service/kinds/prompt/find.ts";
import { interruptible } from "../run/around.ts";
import { stdinText } from "../run/source.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { promptsHere } from "../here.ts";
import { type Told } from "../page.ts";
import { indented, listed, pageOf } from "../../render/page_text.ts";

/** What the flags of the command say. */
export interface ShowOptions {
  readonly flags: ParsedCommand<typeof COMMANDS.show>["flags"];
  readonly terminal: Terminal;
}

/** `orrery show prompt PATH`: what is sent, and what its answer is held to. */
export async function showPrompt(path: string, { flags, terminal }: ShowOptions): Promise<Told> {
  const stop = interruptible(terminal);
  const given = await promptInput(flags, {
    cwd: workingFolder(),
    command: "show",
    stdin: () => stdinText(terminal, stop.signal),
  });
  const { app, app: { project }, index } = await promptsHere({ flags, terminal });
  const problems = typedProblems([...index.problems, ...index.notLoaded], project);
  const found = findPrompt(path, { ...index, problems }, { command: "show" });
  if (found.kind === "tactic") {
    const { kind, name, agents } = found.tactic;
    const { file, line } = index.locatedTactics.get(name) ?? {};
    return {
      json: { kind, name, agents, file, line },
      text: pageOf([
        printableLine(`${name}  (${file}:${line})`),
        "A tactic.",
        listed(
          "Agents",
          agents.map((agent) => [agent, index.profiles.get(agent)?.model ?? NOT_CONFIGURED]),
        ) ||
        "Agents: none",
      ]),
    };
  }
  const located = index.located.get(found.prompt.path);
  if (located === undefined) throw new Error("a prompt that was found has a place");
  const options = { prompts: [found.prompt], located: index.located };
  const { values } = typedValues(asNamed(given, options), options);
  const tools = await promptTools(found.prompt, { project, flags });
  const json = await promptJson(located, { tools, values });
  return masked(app, { json, text: printable(promptPage(json)) });
}

const NOT_CONFIGURED = "not configured: agents: of orrery.yaml has no such entry";

function masked({ secrets: { mask, maskJson } }: App, { json, text }: Told): Told {
  return { json: maskJson(json), text: mask(text) };
}

/** Everything about a prompt, for people. */
function promptPage(prompt: PromptJson): string {
  const { path, file, line, export: exported, text, template, addons, mcp, metadata } = prompt;
  const place = `${file}:${line}${exported === undefined ? "" : `, export ${exported}`}`;
  return pageOf([
    `${path}  (${place})`,
    text === null ? `Template:\n${indented(template)}` : `Text:\n${indented(text)}`,
    variableWords(prompt),
    answerWords(prompt.answer),
    toolWords(prompt.tools),
    Array.isArray(mcp) && mcp.length > 0 ? `MCP servers of the provider:\n${indented(jsonLines(mcp))}` : "",
    hasKeys(addons) ? `Addons: ${JSON.stringify(addons)}` : "",
    handlerWords(prompt.handler),
    hasKeys(metadata) ? `Metadata: ${JSON.stringify(metadata)}` : "",
    `Hashes: prompt ${prompt.promptHash}, contract ${prompt.contractHash}`,
  ]);
}

function variableWords({ variables, missing, unused }: PromptJson): string {
  const all = variables.length === 0 ? "none" : variables.join(", ");
  const without = missing.length === 0 ? "" : `; without a value: ${missing.join(", ")}`;
  const more = unused.length === 0 ? "" : `\nNot used, there is no such variable: ${unused.join(", ")}`;
  return `Variables: ${all}${without}${more}`;
}

function answerWords(answer: PromptAnswer): string {
  switch (answer.kind) {
    case "text":
      return "Answer: any text";
    case "tags":
      return `Answer: text with\n${indented(tagLines(answer).join("\n"))}`;
    case "parser": {
      const said = answer.describe === undefined
        ? ""
        : `, which says of itself ${JSON.stringify(answer.describe)}`;
      return `Answer: what a parser of its module takes${said}`;
    }
    case "json":
      if (answer.schema === undefined) return "Answer: JSON that a schema of its module takes";
      if (!hasKeys(answer.schema)) return "Answer: any JSON";
      return `Answer: JSON of this schema\n${indented(JSON.stringify(answer.schema, null, 2))}`;
    default:
      return answer satisfies never;
  }
}

function tagLines({ tags, refined }: PromptAnswer & { readonly kind: "tags" }): readonly string[] {
  const word = (name: string, needed: readonly string[]) => needed.includes(name) ? "required" : "optional";
  const rows = [
    ...tags.xmlTags.map((name) => [`<${name}>...</${name}>`, word(name, tags.requiredXmlTags)]),
    ...tags.mdTags.map((name) => [`\`\`\`${name} ... \`\`\``, word(name, tags.requiredMdTags)]),
    ...tags.signalTags.map((name) => [`<${name}>`, "signal: there or not"]),
  ];
  const rest = refined ? ["A parser of its module goes on with what they hold."] : [];
  return [...rows.length === 0 ? ["no tags"] : table(rows), ...rest];
}

function toolWords(tools: readonly PromptTool[]): string {
  const rows = tools.map(({ name, state, description, problem }) => [
    name,
    STATE_WORDS[state],
    problem ?? description ?? "",
  ]);
  return listed("Tools", rows) || "Tools: none";
}

const STATE_WORDS: { readonly [state in PromptTool["state"]]: string } = {
  linked: "linked",
  "not linked": "not linked",
  catalogue: "catalogue",
  server: "MCP server, not started here",
  "not trusted": "not trusted",
  broken: "broken",
  unknown: "not in the catalogue",
};

function handlerWords(handler: PromptJson["handler"]): string {
  const rows = Object.entries(handler).map(([event, { text, isDefault }]) => {
    const said = text ?? "a function of its module";
    return [event, isDefault ? `${said} (default)` : said];
  });
  return listed("Handlers", rows);
}

function jsonLines(items: readonly unknown[]): string {
  return items.map((item) => JSON.stringify(item)).join("\n");
}

function hasKeys(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0;
}

/** `orrery show profile NAME`: a profile of `orrery.yaml`, complete. */
export async function showProfile(name: string, { flags, terminal }: ShowOptions): Promise<Told> {
  const { app, index } = await promptsHere({ flags, terminal });
  const profile = findProfile(name, index, { command: "show" });
  return masked(app, { json: profileData(profile), text: printable(profilePage(profile, index)) });
}

function profilePage(profile: AgentProfile, index: PromptIndex): string {
  const { name, model, effort, limits, modelArgs } = profile;
  const defaults = new Map<string, unknown>(Object.entries(DEFAULT_LIMITS));
  const rows = Object.entries(limits).map((
    [limit, value],
  ) => [limit, `${value}`, value === defaults.get(limit) ? "default" : ""]);
  const tactics = [...index.tactics.values()].filter(({ agents }) => agents.includes(name));
  return pageOf([
    name,
    `Model: ${model}`,
    effort === undefined ? "" : `Effort: ${effort}`,
    systemWords(profile, index),
    listed("Limits", rows),
    Object.keys(modelArgs).length === 0
      ? ""
      : `Model arguments: ${JSON.stringify(hiddenSecrets(toJson(modelArgs)))}`,
    tactics.length === 0
      ? ""
      : `Tactics that it works for: ${tactics.map((tactic) => tactic.name).join(", ")}`,
  ]);
}

function systemWords({ systemPrompt, system }: AgentProfile, { located }: PromptIndex): string {
  if (systemPrompt === null) return `System text:\n${indented(system ?? "")}`;
  const file = located.get(systemPrompt)?.claim.source.file;
  return `System prompt: ${systemPrompt}${file === undefined ? "" : `  (${file})`}`;
}
