import type { AgentProfile } from "../../../catalog/agent_profile.ts";
import { type Catalog, FileError, isInside, type Model } from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { modelsByName } from "../../../project/models.ts";
import { isProjectAccepted } from "../../../project/project.ts";
import { type OpenedPrompts, openPrompts } from "../../../project/prompt_index.ts";
import { keepStdout } from "../../../project/trust/grants.ts";
import { dotpromptSettings } from "../../../prompt/dotprompt/fields.ts";
import type { AnyPrompt } from "../../../prompt/prompt.ts";
import type { PromptRegistry } from "../../../prompt/registry.ts";
import { type AgentDefinition, systemPromptOf } from "../../../run/agent/make_agent.ts";
import { silentModel } from "../../../run/turn/noted_model.ts";
import { catalogTools, offeredBy } from "../../../run/turn/offered.ts";
import { UsageError } from "../../exit_code.ts";
import { assertKnownModel, modelFrom } from "../../input/known_model.ts";
import type { NamedAs } from "../../input/prompt_input.ts";
import { openDialogCatalog } from "../dialog/start.ts";
import { type OpenedRun, openedRun, RECORDED, type StartPlace } from "../../start/ready_run.ts";
import { findProfile, findPrompt, type FoundPrompt, typedProblems } from "./find.ts";
import type { PromptRunInput } from "./run.ts";
import { wantedModel } from "../../../host/process.ts";

/** What is wanted of a project. */
export interface OpenPromptRunOptions {
  /** Of a prompt or a tactic; empty: the system prompt of the profile. */
  readonly path: string;
  /** A file that may have been meant. */
  readonly nearFile?: string;
  /** The call files of the folder that was named instead. */
  readonly folder?: readonly string[];
  readonly profile?: string;
  /** The flag, or what a run has kept. */
  readonly model?: string;
  readonly command: "run" | "ask" | "chat" | "resume";
  /** Where the values come from that errors name. Default `flag`. */
  readonly as?: NamedAs;
  /** A conversation is held with the agent. Default false. */
  readonly isTalk?: boolean;
  /** What a record has of it, where that answers everything. */
  readonly recorded?: Pick<PromptRunInput, "modelId">;
}

/** A prompt or a tactic with everything that it needs to run. */
export interface OpenedPromptRun extends OpenedRun {
  readonly found: FoundPrompt;
  readonly opened: OpenedPrompts;
  /** Whether what the project says for itself counts. */
  readonly accepted: boolean;
  /** Who is asked. */
  readonly agent: AgentDefinition;
  /** Of the prompt; for a tactic of all its agents, where one was named. */
  readonly model: Model | undefined;
  /** As it was named. */
  readonly modelName: string | undefined;
  /** The model of an agent of a tactic, or of a prompt that a call asks; undefined for the default. */
  modelOf(name: string | undefined): Model | Promise<Model>;
}

/** Opens what a prompt needs. @throws {UsageError}, {ModelError}, {PromptError} */
export async function openPromptRun(
  at: StartPlace,
  options: OpenPromptRunOptions,
): Promise<OpenedPromptRun> {
  const { project, project: { root }, around, grants } = at;
  const { command, recorded } = options;
  const { user, notice } = around.opening;
  keepStdout(grants.flags);
  const accepted = around.accepted ??
    await isProjectAccepted({ ...project, flags: grants.flags, user, notice });
  const opened = await around.unlessAborted(
    openPrompts(root, { trustsCode: grants.flags["trust-code"] === true }),
  );
  const told = { ...opened, problems: typedProblems(opened.problems, project) };
  const profile = options.profile === undefined ? undefined : findProfile(options.profile, told, { command });
  const agent = profile && profileAgent(profile, opened.registry);
  const found: FoundPrompt = options.path === "" && agent !== undefined
    ? { kind: "prompt", prompt: systemPromptOf(agent) }
    : findPrompt(options.path, told, { command, nearFile: options.nearFile, folder: options.folder });
  // Only for plain names the catalogue is opened; what a tactic asks is not known before.
  const tools = found.kind === "tactic"
    ? ["*"]
    : found.prompt.tools.filter((tool) => typeof tool === "string");
  const dialog = recorded === undefined ? await openDialogCatalog(at, { accepted, tools }) : RECORDED;
  // The flag, the variable, the profile, the prompt's file; where none says anything, `models.default`.
  const named = wantedModel(options.model);
  const modelName = found.kind === "tactic"
    ? named
    : named ?? profile?.model ?? dotpromptSettings(found.prompt).model;
  const isAccepted = accepted || dialog.projectAccepted;
  if (named !== undefined && recorded === undefined && command !== "resume") {
    const from = modelFrom(options.model, options.as);
    assertKnownModel(named, { from, config: project.config, accepted: isAccepted, command });
  }
  const models = modelsByName({
    ...project,
    isAccepted,
    settings: grants.settings,
  });
  const needsModel = found.kind === "prompt" || modelName !== undefined;
  const model = !needsModel
    ? undefined
    : recorded === undefined
    ? await models(modelName)
    : silentModel({ id: recorded.modelId ?? "" });
  const isNew = recorded === undefined && command !== "resume";
  if (isNew && model !== undefined) await assertOffered(found, { catalog: dialog.catalog, model, command });
  return {
    ...openedRun(at, { ...dialog, projectAccepted: accepted }),
    found,
    opened,
    accepted,
    agent: await agentFor(found, { agent, root, isTalk: options.isTalk ?? false }),
    model,
    modelName,
    modelOf: models,
  };
}

/** What the prompt wants of its model and of the project leaves no run behind where there is no such thing. @throws {UsageError} */
async function assertOffered(
  found: FoundPrompt,
  { catalog, model, command }: {
    readonly catalog: Catalog;
    readonly model: Model;
    readonly command: OpenPromptRunOptions["command"];
  },
): Promise<void> {
  if (found.kind === "tactic") return;
  const tools = catalogTools(() => Promise.resolve(catalog));
  const offered = await offeredBy(found.prompt, { tools, model });
  // A tool that cannot be loaded is for the run, which says how to allow it.
  if ("problem" in offered && offered.cause === undefined) {
    throw new UsageError(offered.problem, command);
  }
}

/** Without a profile it is nobody in particular. A prompt that asks for it is told what the people of the project say. */
async function agentFor(
  found: FoundPrompt,
  { agent, ...place }: {
    readonly agent: AgentDefinition | undefined;
    readonly root: string;
    readonly isTalk: boolean;
  },
): Promise<AgentDefinition> {
  if (found.kind === "tactic") return agent ?? { name: found.tactic.name, system: "" };
  const { prompt } = found;
  return await withProjectText(agent ?? promptAgent(prompt), { prompt, ...place });
}

/** The agent of a profile, with its system prompt. @throws {PromptError} when the registry does not have that */
export function profileAgent(
  { name, effort, systemPrompt, system, limits, modelArgs }: AgentProfile,
  registry: PromptRegistry,
): AgentDefinition {
  return {
    name,
    effort,
    system: systemPrompt === null ? system ?? "" : registry.get(systemPrompt),
    limits,
    modelArgs,
  };
}

/** Whoever is asked a prompt where no agent is named: nobody in particular, with what the prompt's file says of its model. */
export function promptAgent(prompt: AnyPrompt): AgentDefinition {
  return { name: prompt.path, system: "", modelArgs: dotpromptSettings(prompt).config };
}

/**
 * An agent that is told what the people of the project want every model to know: where a conversation is held, and where the prompt asks
 * for it with `metadata: { context: project }` (cli.md).
 */
export async function withProjectText(
  agent: AgentDefinition,
  { prompt, root, isTalk = false }: {
    readonly prompt: Pick<AnyPrompt, "metadata">;
    readonly root: string;
    readonly isTalk?: boolean;
  },
): Promise<AgentDefinition> {
  const isWanted = isTalk || prompt.metadata.context === "project";
  return isWanted ? { ...agent, addedText: await agentsText(root) } : agent;
}

/**
 * `AGENTS.md` of the project root: what its people want every model to know (cli.md); empty when there is none, or when it is a link that
 * leads out of the project.
 */
export async function agentsText(root: string): Promise<string> {
  const files = hostFiles({ root });
  try {
    const [real, realRoot] = await Promise.all([files.resolve("AGENTS.md"), files.resolve(root)]);
    return isInside(real, realRoot) ? (await files.readText(real)).trim() : "";
  } catch (error) {
    if (error instanceof FileError) return "";
    throw error;
  }
}
