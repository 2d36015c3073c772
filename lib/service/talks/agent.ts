// What an agent meets in a project, opened and looked at before its first step: `run`, `chat` and `resume` open it in the same way.
import type { ConversationScope } from "../../conversation/slots.ts";
import {
  type Collection,
  type Effort,
  effortFrom,
  type Embedder,
  FileError,
  type Json,
  type JsonObject,
  objectOrEmpty,
  PermissionRefused,
  type PermissionRequest,
  toJsonObject,
} from "../../core/core.ts";
import { realPath } from "../../host/paths.ts";
import { hostEnv } from "../../host/process.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { stepPlaces } from "../../parse/agent/tree.ts";
import { createPolicy } from "../../policy/policy.ts";
import { maybeRefusal } from "../../policy/refusal.ts";
import { conversationMeans, type ConversationPlace } from "../../project/conversation_means.ts";
import { modelProblem, projectEmbedder } from "../../project/models.ts";
import { projectCollection } from "../../project/project_collection.ts";
import type { Budget } from "../../run/budget.ts";
import type { CallLimits } from "../../run/calls/graph.ts";
import type { ConversationMeans } from "../../run/conversation/work.ts";
import { budgetFrom, limitsFrom, textFrom } from "../input/kept_input.ts";
import { openedCatalog, type StartPlace } from "../start/ready_run.ts";
import { type AgentLine, type AgentMeets, agentNeeds, runStepProblem } from "./needs.ts";

/** An agent that is about to talk. */
export interface OpenAgentOptions extends StartPlace {
  readonly agent: AgentFile;
  readonly input: ConversationInput;
  /** It begins: its slots are filled. */
  readonly isNew: boolean;
  /** Nothing is written. */
  readonly isEphemeral: boolean;
}

/** What it meets. */
export interface OpenedAgent {
  readonly place: ConversationPlace;
  readonly means: ConversationMeans;
}

/** One that cannot begin: what is wrong. */
export interface RefusedAgent {
  readonly problems: readonly AgentLine[];
}

/**
 * Opens what an agent needs and tells all that is known to be missing; else gives the problems.
 *
 * @throws {ProblemsError}, {FileError} for the collection
 */
export async function openAgent(options: OpenAgentOptions): Promise<OpenedAgent | RefusedAgent> {
  const { agent, input, project, grants, around, isNew, isEphemeral } = options;
  const opened = await openedCatalog(options, { servers: callsGadgets(agent) });
  const { catalog, world, projectAccepted: accepted } = opened;
  const place: ConversationPlace = { project, grants, catalog, world, accepted };
  const collection = await openedCollection(input, { place, isEphemeral });
  const means = conversationMeans(place, { ...input, collection });
  const problems = await agentNeeds(agent, {
    ...agentMeets(place, { means, canAsk: around.approvals !== undefined }),
    hasCollection: collection !== undefined,
    context: isNew ? input.context : undefined,
  });
  if (problems.length === 0) return { place, means };
  return { problems };
}

/** What the steps of an agent meet in a place, also when they are only looked at. */
export function agentMeets(
  place: ConversationPlace,
  { means, canAsk }: { readonly means: AgentMeets["means"]; readonly canAsk: boolean },
): Omit<AgentMeets, "hasCollection"> {
  const { project, grants: { flags }, accepted } = place;
  return {
    means,
    isModelName: (name) => modelProblem(name, { ...project, accepted }) === undefined,
    refusal: refusalBy(place, { canAsk }),
    envProblem: (name) =>
      hostEnv(name) === undefined ? `the environment variable "${name}" is not set` : undefined,
    runProblem: runStepProblem({ root: project.root, trustsCode: flags["trust-code"] === true }),
  };
}

/** Servers are started for agents that may call something. */
function callsGadgets({ root }: AgentFile): boolean {
  return stepPlaces(root).some(({ step }) =>
    step.kind === "gadget" || step.kind === "run" ||
    (step.kind === "llm" && (step.tools !== undefined || step.prompt !== undefined))
  );
}

async function openedCollection(
  { collection, moduleFile, moduleSession: session }: ConversationInput,
  { place, isEphemeral }: { readonly place: ConversationPlace; readonly isEphemeral: boolean },
): Promise<Collection | undefined> {
  const file = moduleFile ?? collection;
  if (file === undefined) return undefined;
  const { project: { root }, world: { files } } = place;
  const embedder = await maybeEmbedder(place);
  const ofModule = moduleFile === undefined ? {} : { session, collection };
  try {
    return await projectCollection(realPath(file), {
      root,
      files,
      embedder,
      isKept: !isEphemeral,
      ...ofModule,
    });
  } catch (error) {
    throw namingFlag(error, file);
  }
}

/** What keeps the documents away: nothing has run yet. */
function namingFlag(error: unknown, path: string): unknown {
  const named = "(named by --collection or --module, or by conversations.collection of orrery.yaml)";
  if (error instanceof FileError) {
    return new FileError(`${error.message} ${named}`, { path, code: error.code, cause: error });
  }
  if (!(error instanceof PermissionRefused)) return error;
  return new FileError(`${error.message} ${named}`, { path, code: "denied", cause: error });
}

async function maybeEmbedder(
  { project, grants: { settings }, accepted: isAccepted }: ConversationPlace,
): Promise<Embedder | undefined> {
  const name = project.config.conversations.embeddings;
  if (name === undefined) return undefined;
  return await projectEmbedder({ ...project, isAccepted, settings, name });
}

/** What the flags forbid, and what they do not allow where nobody can be asked. */
function refusalBy(
  { project: { root, cwd }, grants: { settings } }: ConversationPlace,
  { canAsk }: { readonly canAsk: boolean },
): (request: PermissionRequest) => string | undefined {
  const policy = createPolicy(settings, { root, cwd, realPath });
  return (request) => {
    const refused = maybeRefusal(policy, request);
    if (refused === undefined) return undefined;
    if (refused.flag === "") return refused.message;
    return canAsk ? undefined : `needs ${refused.flag}`;
  };
}

// What a conversation is made of besides its agent: kept with its run, so that whoever goes on with it has the same.

/** What the command line says of a conversation. */
export interface ConversationInput {
  readonly scope: ConversationScope;
  /** What its preloaded slots come from. */
  readonly context: JsonObject;
  /** Slots that are set before its first step, by `destination.name`. */
  readonly given: JsonObject;
  /** For the steps that name none. */
  readonly model?: string;
  /** How hard models think, whatever the steps say. */
  readonly effort?: Effort;
  /** A `*.collection.yml` file: absolute. */
  readonly collection?: string;
  /** A `*.module.yml` file: absolute. */
  readonly moduleFile?: string;
  /** A session of that file. */
  readonly moduleSession?: string;
  /** Somebody is asked about what is not granted, where nobody sits at a terminal. Default false. */
  readonly canAsk?: boolean;
  readonly budget: Budget;
  readonly limits: CallLimits;
}

/** As a run keeps it; whose slots it has is kept by the conversation itself. */
export function conversationAbout({ scope: _scope, ...about }: ConversationInput): JsonObject {
  return toJsonObject(about);
}

/** What a run has kept. */
export function conversationInput(kept: Json): ConversationInput {
  const input = objectOrEmpty(kept);
  return {
    scope: { user: String(input.user), module: String(input.module), session: String(input.session) },
    context: objectOrEmpty(input.context),
    given: objectOrEmpty(input.given),
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    model: textFrom(input.model),
    effort: effortFrom(input.effort),
    collection: textFrom(input.collection),
    moduleFile: textFrom(input.moduleFile),
    moduleSession: textFrom(input.moduleSession),
    canAsk: input.canAsk === true ? true : undefined,
  };
}
