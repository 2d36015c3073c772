// The turn of an agent as prompts.md 9 has it: a prompt says what is asked, what an answer has to be, which tools there are, and what is said
// to a bad answer, to the results of tools, and at the end of the rounds.
import {
  dialogMessage,
  type Effort,
  type GadgetContext,
  type Message,
  messageOf,
  type Model,
  ModelError,
  type ModelErrorCode,
  orAborted,
  ParseError,
} from "../../core/core.ts";
import { contractOf } from "../../prompt/contract.ts";
import { dotpromptSettings } from "../../prompt/dotprompt/fields.ts";
import type { HandlerEvent } from "../../prompt/handler.ts";
import { handlerChild, HandlerError } from "../../prompt/handler_child.ts";
import type { AgentLimits } from "../../prompt/limits.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import {
  AgentError,
  type AgentErrorCode,
  type CallState,
  initialState,
  noteError,
  stateNow,
  type TurnState,
} from "./call_state.ts";
import type { AgentHost } from "./agent.ts";
import type { DialogLog } from "./dialog_log.ts";
import type { Run } from "../run.ts";
import { textAlone } from "../turn/answer_calls.ts";
import { assistantMessage, type ModelAnswer, whyBad } from "../turn/model_answer.ts";
import { type Offered, offeredBy, type ToolSource } from "../turn/offered.ts";
import { askedToWait, growingMs, sleepForProvider } from "../turn/provider_sleep.ts";
import { runToolRound } from "../turn/tool_round.ts";
import type { Question, TurnKind } from "../turn/turn.ts";

/** One turn of a dialog. */
export interface PromptTurnOptions {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** `dialog[1]/`: before the number of each question. */
  readonly keyPrefix: string;
  /** For errors. */
  readonly agent: string;
  readonly model: Model;
  readonly limits: AgentLimits;
  /** Where the prompt in force says nothing of it. */
  readonly effort?: Effort;
  /** What the provider takes besides. */
  readonly modelArgs: Readonly<Record<string, unknown>>;
  /** Where plain names of tools are. */
  readonly tools: ToolSource;
  readonly log: DialogLog;
  readonly given: Pick<GadgetContext, "deps" | "dialog">;
  /** Where the agent lives. */
  readonly host: Pick<AgentHost, "random" | "keepsFailure" | "calls" | "wake">;
}

/** What a turn ends with. */
export interface PromptTurnEnd {
  readonly parsed: unknown;
  readonly text: string;
  readonly state: CallState;
}

const NO_MORE_TOOLS = "Error: no tools are available any more. Provide the final response.";

/** The state machine of one turn, and its state. What goes wrong is thrown as an {@linkcode AgentError}. */
export function promptTurn(
  options: PromptTurnOptions,
): TurnKind<PromptTurnEnd> & { readonly state: TurnState } {
  const { run, signal, keyPrefix, agent, model, modelArgs, limits, log, given, host } = options;
  const memory = new Set<string>();
  /** Sent, but gone with the next answer that is accepted. */
  const scratch: Message[] = [];
  /** Resolved for the prompt in force. */
  let offered: { readonly prompt: AnyPrompt; readonly tools: Offered } | undefined;
  /** Calls that the model has written in this turn, those after the limit too. */
  let written = 0;
  const root = log.topPrompt.rootPath;
  let isFinal = limits.interruptSteps === 0;
  const waits = providerWaits(limits, host.random);
  const state = initialState(limits);

  async function question(): Promise<Question> {
    const prompt = log.topPrompt;
    const { specs, providerTools } = await toolsOf(prompt);
    log.mask((message) => run.mask(message));
    const messages = [...log.all, ...scratch];
    const sent = log.sending(messages);
    state.modelCalls++;
    return {
      key: `${keyPrefix}turn[${sent.n}]/model`,
      signal,
      model,
      news: sent.news,
      about: {
        prompt: prompt.path,
        after: sent.after,
        tools: isFinal ? [] : specs.map(({ name }) => name),
      },
      callsBefore: written,
      keepsFailure: (error) => host.keepsFailure === true || waits.next(error) !== undefined,
      request: {
        messages,
        retries: 0,
        ...(!isFinal && { tools: specs, providerTools }),
        ...contractOf(prompt).request,
        args: modelArgs,
        effort: dotpromptSettings(prompt).effort ?? options.effort,
      },
      reader: () => textAlone,
    };
  }

  async function answered(answer: ModelAnswer): Promise<PromptTurnEnd | undefined> {
    signal.throwIfAborted();
    written += answer.calls.length;
    if (answer.calls.length === 0) return await judge(answer);
    if (isFinal) return overcalled(answer);
    await round(answer);
    return undefined;
  }

  async function failed(failure: ModelError): Promise<undefined> {
    const place = `${keyPrefix}turn[${log.asked}]`;
    const error = await askedToWait(failure, { run, signal, key: `${place}/asked` });
    const wait = waits.next(error);
    if (wait === undefined) {
      const { code, message } = waits.giveUp(error);
      throw agentError(code, message, error);
    }
    if (wait.isRecall) {
      noteError(state.llmRecalls, state.step, error);
      state.state = "llm_recall";
    }
    waits.took(wait);
    await sleepForProvider({
      run,
      signal,
      wake: host.wake?.(),
      key: `${place}/wait`,
      ms: wait.ms,
      error,
    });
    return undefined;
  }

  /** An error of this turn, whose state is `failure` from now on. */
  function agentError(code: AgentErrorCode, message: string, cause?: unknown): AgentError {
    state.state = "failure";
    const text = code === "handler" ? message : `agent "${agent}": ${message}`;
    return new AgentError(run.mask(text), { code, state, cause });
  }

  /** @throws {AgentError} `config`, before anything is asked */
  async function toolsOf(prompt: AnyPrompt): Promise<Offered> {
    if (offered?.prompt !== prompt) {
      const tools = await orAborted(offeredBy(prompt, options), signal);
      if ("problem" in tools) throw agentError("config", tools.problem, tools.cause);
      offered = { prompt, tools };
    }
    return offered.tools;
  }

  async function round(answer: ModelAnswer): Promise<void> {
    const prompt = log.topPrompt;
    const calls = await runToolRound(answer.calls, {
      run,
      signal,
      keyPrefix: `${keyPrefix}turn[${log.asked}]/`,
      tools: (await toolsOf(prompt)).gadgets,
      parallel: limits.parallelTools,
      memory,
      given,
      bounds: host.calls,
    });
    state.state = "interrupt";
    state.interruptSteps.push(state.step);
    const n = state.step + 1;
    const messages: Message[] = [assistantMessage(answer)];
    let child = prompt;
    for (const call of calls) {
      state.calls.push(call);
      state.call = call;
      const values = { call_results: call.text ?? "", step: n, max_steps: limits.interruptSteps };
      const made = await childOf("onInterrupt", { prompt, n, values });
      messages.push({ role: "tool", id: call.id, name: call.name, content: made.text });
      child = made.prompt;
    }
    delete state.call;
    signal.throwIfAborted();
    const final = limits.interruptSteps !== "unlimited" && n >= limits.interruptSteps
      ? await childOf("onInterruptFinal", {
        prompt: child,
        n,
        values: { step: n, max_steps: limits.interruptSteps },
      })
      : undefined;
    signal.throwIfAborted();
    log.add(messages, child);
    if (final !== undefined) log.add([{ role: "user", content: final.text }], final.prompt);
    isFinal = final !== undefined;
    scratch.length = 0;
    state.step = n;
  }

  function overcalled(answer: ModelAnswer): undefined {
    const error = new Error("tool call after the limit");
    noteError(state.exceptionRetries, state.step, error);
    const told: Message[] = answer.calls.map(({ id, name }) => ({
      role: "tool",
      id,
      name,
      content: NO_MORE_TOOLS,
    }));
    reject([assistantMessage(answer), ...told]);
    if (state.exceptionRetriesCount >= limits.exceptionRetries) {
      throw agentError(
        "interrupts",
        `still calling tools after the limit of ${limits.interruptSteps} rounds`,
        error,
      );
    }
    retries(error);
    return undefined;
  }

  async function judge(answer: ModelAnswer): Promise<PromptTurnEnd | undefined> {
    const prompt = log.topPrompt;
    let parsed: unknown;
    try {
      parsed = await orAborted(contractOf(prompt).parse(answer.text, { prompt, signal }), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ParseError) return await rejected(answer, whyOf(error, answer));
      throw agentError("parser", `the parser of prompt "${root}" failed: ${messageOf(error)}`, error);
    }
    signal.throwIfAborted();
    log.add([assistantMessage(answer)], prompt);
    state.state = "success";
    return { parsed, text: answer.text, state };
  }

  async function rejected(answer: ModelAnswer, error: ParseError): Promise<undefined> {
    noteError(state.exceptionRetries, state.step, error);
    if (state.exceptionRetriesCount >= limits.exceptionRetries) {
      reject([assistantMessage(answer)]);
      const message = `no valid answer after ${limits.exceptionRetries} retries: ${error.message}`;
      throw agentError("exceptions", message, error);
    }
    const n = retries(error);
    const values = { error_message: error.message, retry_count: n, max_retries: limits.exceptionRetries };
    const { prompt, text } = await childOf("onException", { prompt: log.topPrompt, n, values });
    reject([assistantMessage(answer), { role: "user", content: text }]);
    log.topPrompt = prompt;
    return undefined;
  }

  /** The answer is no good, and asked for again: tells why, and gives which retry of the turn that is. */
  function retries({ message }: Error): number {
    const n = ++state.exceptionRetriesCount;
    state.state = "exception";
    const why = message.replaceAll(/\s*\n\s*/g, " ");
    run.emit({
      type: "warning",
      text: `${agent}: the answer is asked for again (${n} of ${limits.exceptionRetries}): ${why}`,
    });
    return n;
  }

  /** Sent with the next question, and never kept. */
  function reject(messages: readonly Message[]): void {
    const masked = messages.map((message) => run.mask(message));
    scratch.push(...masked);
    state.attempts.push(...masked.map((message) => dialogMessage(message)));
  }

  async function childOf(
    event: HandlerEvent,
    { prompt, n, values }: {
      readonly prompt: AnyPrompt;
      readonly n: number;
      readonly values: Readonly<Record<string, unknown>>;
    },
  ): Promise<{ readonly prompt: AnyPrompt; readonly text: string }> {
    const request = { spec: prompt, rootPath: root, n, values, state: stateNow(state) };
    try {
      return await orAborted(handlerChild(event, request), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof HandlerError ? agentError("handler", error.message, error.cause) : error;
    }
  }

  return { state, question, answered, failed };
}

/** What is wrong with an answer, and that it was cut off. */
function whyOf(error: ParseError, answer: ModelAnswer): ParseError {
  const message = whyBad(error.message, answer);
  return message === error.message ? error : new ParseError(message, error.issues);
}

/** Before the model is asked again. */
interface ProviderWait {
  readonly ms: number;
  /** It failed; a rate limit is no failure. */
  readonly isRecall: boolean;
}

const RECALLED: ReadonlySet<ModelErrorCode> = new Set(["server", "network", "timeout"]);

/** How often and how long a turn waits for its provider (prompts.md 9.6). */
function providerWaits(limits: AgentLimits, random: () => number) {
  let rateLimits = 0;
  let recalls = 0;

  /** The next wait for such an error; undefined when the turn is over with it. */
  function next(error: ModelError): ProviderWait | undefined {
    if (error.code === "rate-limit") {
      if (rateLimits >= limits.rateLimitWaits || isTooLong(error)) return undefined;
      return { ms: error.retryAfterMs ?? growing(rateLimits), isRecall: false };
    }
    if (!RECALLED.has(error.code) || recalls >= limits.llmRecalls) return undefined;
    return { ms: growing(recalls), isRecall: true };
  }

  function took({ isRecall }: ProviderWait): void {
    if (isRecall) recalls++;
    else rateLimits++;
  }

  /** What a turn ends with that waits no more. */
  function giveUp(error: ModelError): { readonly code: AgentErrorCode; readonly message: string } {
    const { message, code, retryAfterMs = 0 } = error;
    if (code === "config") return { code, message };
    if (code !== "rate-limit") return { code: "provider", message };
    const why = isTooLong(error)
      ? `asked to wait ${retryAfterMs / 1000} s, more than ${limits.maxWait} s`
      : `rate limited ${rateLimits + 1} times`;
    return { code: "rate_limit", message: `${why}: ${message}` };
  }

  function isTooLong({ retryAfterMs = 0 }: ModelError): boolean {
    return retryAfterMs > limits.maxWait * 1000;
  }

  function growing(waits: number): number {
    return growingMs(waits, { random, mostMs: limits.maxWait * 1000 });
  }

  return { next, took, giveUp };
}
