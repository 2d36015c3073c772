// One turn of a conversation. Between turns nothing is held: the next one begins with what the journal has, whoever has made the one before.
import { conversation } from "../kinds/conversation/conversation.ts";
import { resolve } from "node:path";
import {
  ConversationError,
  type ConversationErrorCode,
  FileError,
  type JsonObject,
  type RunEvent,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { memoryJournal } from "../../journal/memory_journal.ts";
import { newRunId } from "../../journal/new_run.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import { type ProjectSettings } from "../../project/project.ts";
import { foundSecrets, openJournal } from "../keep.ts";
import { assertRecord, startRecord } from "../record.ts";
import { UsageError } from "../exit_code.ts";
import { limitsOf, wishedBudget } from "../input/budget.ts";
import { isModuleFile, moduleChoice } from "../input/module_choice.ts";
import { fileInProject } from "../project_files.ts";
import {
  type BeginTalk,
  fieldError,
  LACKS,
  problemsError,
  ServiceError,
  type ServiceErrorCode,
} from "../service.ts";
import type { StartPlace } from "../start/ready_run.ts";
import type { ConversationInput, OpenAgentOptions, RefusedAgent } from "./agent.ts";
import type { AgentLine } from "./needs.ts";
import {
  type ConversationSession,
  openSession,
  type OpenSessionOptions,
  type SessionStore,
} from "./session.ts";
import { NOBODY_NAMED } from "./state.ts";
import { wantedModel } from "../../host/process.ts";

/** A conversation that a turn is made of. */
export interface TalkPlace
  extends Pick<OpenSessionOptions, "id" | "isNew" | "isEphemeral" | "drain">, SessionStore {
  /** The file of its agent, relative to the root. */
  readonly file: string;
  readonly at: StartPlace;
  /** Makes known here what conversations of this scope have left in it. Default: the journal knows. */
  readonly learnSlots?: (scope: ConversationInput["scope"]) => Promise<void>;
}

/** Opens a conversation for a turn. @param inputOf what it is made of, once its agent is known @throws {ProblemsError} with everything that is wrong or missing, {ServiceError} `gone`, `not-found` */
export async function openTalk(
  { file, at, journal, secrets, ...talk }: TalkPlace,
  inputOf: (agent: AgentFile) => ConversationInput | Promise<ConversationInput>,
): Promise<ConversationSession> {
  const agent = await readAgent(file, { root: at.project.root, isNew: talk.isNew });
  const input = await inputOf(agent);
  await talk.learnSlots?.(input.scope);
  try {
    const session = await openSession({ ...talk, ...at, agent, input, store: () => ({ journal, secrets }) });
    if ("problems" in session) throw agentError(session.problems, LACKS);
    await session.keepGrants();
    return session;
  } catch (error) {
    throw talkError(error);
  }
}

/** @throws {ProblemsError}, {ServiceError} `not-found`, and `gone` where it was there once */
async function readAgent(
  file: string,
  { root, isNew }: { readonly root: string; readonly isNew: boolean },
): Promise<AgentFile> {
  const { agent, problems } = await readAgentFile(await textOf(file, { root, isNew }), { file });
  if (agent === undefined) throw agentError(problems);
  return agent;
}

async function textOf(
  file: string,
  { root, isNew }: { readonly root: string; readonly isNew: boolean },
): Promise<string> {
  try {
    return await hostFiles({ root }).readText(resolve(root, file));
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    throw isNew
      ? fieldError("agent", `agent: there is no agent ${JSON.stringify(file)} in the project`, "not-found")
      : new ServiceError(
        `The agent file ${JSON.stringify(file)} of this conversation is gone: put it back to go on with it`,
        { code: "gone" },
      );
  }
}

/** The path of an agent file as requests name it. @throws {ServiceError} `outside`, `invalid` */
export function agentPath(wish: Pick<BeginTalk, "agent">, root: string): string {
  const path = fileInProject(wish.agent, { root, field: "agent" });
  if (conversation.file.is(path)) return path;
  throw fieldError(
    "agent",
    `agent: expected a file that ends with .agent.yml or .agent.yaml, found ${JSON.stringify(wish.agent)}`,
  );
}

/** What is wished of a new conversation. @throws {ServiceError} `invalid`, {FileError}, {ProblemsError} */
export async function wishedTalk(
  wish: BeginTalk,
  { project, agent }: { readonly project: ProjectSettings; readonly agent: AgentFile },
): Promise<ConversationInput> {
  const { user = NOBODY_NAMED, session = agent.id, budget, canAsk = false } = wish;
  const { module, context, ...ofFile } = await chosenModule(wish, project);
  const { collection } = project.config.conversations;
  const model = wantedModel(wish.model);
  return {
    scope: { user, module, session },
    context,
    given: slotsOf(wish.slots ?? {}),
    budget: wishedBudget(project, budget),
    limits: limitsOf(project, {}),
    ...(canAsk && { canAsk }),
    model,
    effort: wish.effort,
    collection,
    ...ofFile,
  };
}

async function chosenModule(
  { module, session }: BeginTalk,
  { root }: ProjectSettings,
): ReturnType<typeof moduleChoice> {
  const named = module !== undefined && isModuleFile(module)
    ? fileInProject(module, { root, field: "module" })
    : module;
  try {
    return await moduleChoice({ module: named, session }, { cwd: root, command: "run", as: "field" });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw fieldError("session", error.message);
  }
}

/** The name of a slot, with its destination where it has one. */
export const SLOT = /^(?:(?:conversation|session|module|global)\.)?[A-Za-z0-9_-]+$/;

/** @throws {ServiceError} `invalid` */
function slotsOf(slots: JsonObject): JsonObject {
  const wrong = Object.keys(slots).find((name) => !SLOT.test(name));
  if (wrong === undefined) {
    return Object.fromEntries(
      Object.entries(slots).map(([name, value]) => [name.replace(/^conversation\./, ""), value]),
    );
  }
  throw fieldError(
    "slots",
    `slots: ${JSON.stringify(wrong)} is no name of a slot: it has letters, digits, _ and -, and may have ` +
      "session., module. or global. before it",
  );
}

/** Waits until a turn has begun: it is in the journal then. @throws {ServiceError} when the conversation does not take it */
export async function begunTurn(events: AsyncIterable<RunEvent>): Promise<AsyncIterable<RunEvent>> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    return first.done === true ? rest(iterator) : withFirst(first.value, iterator);
  } catch (error) {
    throw talkError(error);
  }
}

async function* withFirst(first: RunEvent, iterator: AsyncIterator<RunEvent>): AsyncGenerator<RunEvent> {
  yield first;
  yield* rest(iterator);
}

function rest(iterator: AsyncIterator<RunEvent>): AsyncIterable<RunEvent> {
  return { [Symbol.asyncIterator]: () => iterator };
}

const CODES: { readonly [Code in ConversationErrorCode]: ServiceErrorCode } = {
  empty: "invalid",
  busy: "busy",
  ended: "ended",
  interrupted: "busy",
  nothing: "ended",
  changed: "changed",
  gone: "not-found",
};

/** What a conversation does not take, as the service says it; `details.reason` has its own word for it. */
function talkError(error: unknown): unknown {
  if (!(error instanceof ConversationError)) return error;
  const { message, code: reason } = error;
  return new ServiceError(message, { code: CODES[reason], details: { reason } });
}

/** What is wrong with an agent file, or missing for it. */
function agentError(problems: readonly AgentLine[], code = "E-agent"): Error {
  return problemsError(
    problems.map(({ path, message, ...problem }) => ({ ...problem, message: `${path}: ${message}` })),
    code,
  );
}

// What `run` and `chat` have in common: everything is looked at before the first step, and nothing is kept of what is refused.

/** A conversation that can begin. */
interface BegunConversation {
  readonly agent: AgentFile;
  readonly session: ConversationSession;
  /** It can be gone on with. */
  readonly isKept: boolean;
}

/** Opens all that a new conversation needs; or gives what is missing. */
export async function beginConversation(
  { record, ...options }: Omit<OpenAgentOptions, "isNew"> & {
    /** The file that it is recorded to. Default: none. */
    readonly record?: string;
  },
): Promise<BegunConversation | RefusedAgent> {
  const { agent, project: { root, cwd, config }, around, isEphemeral } = options;
  if (record !== undefined) await assertRecord(record, cwd);
  const recording: OpenSessionOptions["record"] = record === undefined
    ? undefined
    : (start, secrets) => startRecord(start, { file: record, cwd, secrets });
  const store = () => {
    const secrets = foundSecrets({ ...options, config, found: around.found });
    const journal = isEphemeral ? memoryJournal({ secrets }) : openJournal(root, { secrets });
    return { journal, secrets };
  };
  const session = await openSession({
    ...options,
    id: newRunId(Date.now()),
    isNew: true,
    store,
    record: recording,
  });
  if ("problems" in session) return session;
  await session.keepGrants();
  return { agent, session, isKept: !isEphemeral };
}
