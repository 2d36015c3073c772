// Models without a network: the replies of a script, and fixed rules.
import {
  type Clock,
  type Message,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
  textOf,
  type ToolCall,
} from "../core/core.ts";
import { codeOf, shortened } from "./problem.ts";
import type { ScriptReply } from "../parse/files/script.ts";

/** A model that gives the replies of a script, in order, each once; the first unused one whose `when` fits. */
export function scriptModel(
  replies: readonly ScriptReply[],
  options: { readonly id: string; readonly clock: Clock },
): Model {
  const { id, clock } = options;
  const used = new Set<ScriptReply>();
  let calls = 0;
  const nextReply = (last: Message | undefined): ScriptReply | undefined => {
    const text = last === undefined ? "" : textOf(last);
    return replies.find((each) => !used.has(each) && (each.when?.test(text) ?? true));
  };
  const use = (reply: ScriptReply): void => {
    if (!reply.repeat) used.add(reply);
  };
  return {
    id,
    answered: ({ messages }, { isFailure }) => {
      const last = messages.at(-1);
      let reply = nextReply(last);
      while (!isFailure && reply?.error !== undefined && !reply.repeat) { // it was tried again
        use(reply);
        reply = nextReply(last);
      }
      if (reply === undefined || (reply.error !== undefined) !== isFailure) return; // the script is another one by now
      use(reply);
      calls += reply.calls.length;
    },
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      const last = request.messages.at(-1);
      const reply = nextReply(last);
      if (reply === undefined) throw usedUp(id, { last, used: used.size, all: replies.length });
      use(reply);
      for (const text of reply.chunks) {
        if (reply.delayMs > 0) await clock.sleep(reply.delayMs, request.signal);
        request.signal?.throwIfAborted();
        if (text !== "") yield { type: "text", text };
      }
      if (reply.error !== undefined) throw errorOf(reply.error, id);
      yield* endOf(id, reply.calls.map((call) => ({ ...call, id: `call_${++calls}` })));
    },
  };
}

/** The calls of an answer, and its end. */
function* endOf(model: string, calls: readonly ToolCall[]): Generator<ModelPart> {
  for (const call of calls) {
    yield { type: "call-start", id: call.id, name: call.name };
    yield { type: "call-delta", id: call.id, text: call.arguments };
    yield { type: "call", call };
  }
  const reason = calls.length > 0 ? "calls" : "stop";
  yield { type: "finish", reason, usage: { input: 0, output: 0 }, model };
}

function errorOf(
  { status, message, retryAfterMs }: NonNullable<ScriptReply["error"]>,
  id: string,
): ModelError {
  return new ModelError(`${id}: ${message}${status === undefined ? "" : ` (${status})`}`, {
    code: status === undefined ? "server" : codeOf(message, { status }),
    status,
    retryAfterMs,
  });
}

function usedUp(
  id: string,
  { last, used, all }: { readonly last: Message | undefined; readonly used: number; readonly all: number },
): ModelError {
  const left = used === all ? `all ${all} replies are used` : `none of the ${all - used} replies left fits`;
  const shown = last === undefined
    ? "no message"
    : `${last.role}: ${JSON.stringify(shortened(textOf(last)))}`;
  return new ModelError(`${id} has no reply: ${left}. The last message is ${shown}`, { code: "request" });
}

// `script/echo`: a model with fixed rules, for tests and first steps without a network. Its rules are part of the specification
// (cases/documents/README.md, "The script model").

const ID = "script/echo";

/** The echo model. How often a text has failed, and how many calls it has made, it keeps for itself. */
export function echoModel(): Model {
  const failures = new Map<string, number>();
  let made = 0;
  return {
    id: ID,
    async *stream({ messages, tools = [], stop = [], signal }) {
      signal?.throwIfAborted();
      const asked = messages.findLast(({ role }) => role === "user");
      const text = asked === undefined ? "" : textOf(asked);
      const fixed = fixedAnswer(messages, text, failures);
      const calls = fixed !== undefined || tools.length === 0 ? [] : callsIn(text, () => `call_${++made}`);
      const said = calls.length > 0 ? "" : cutAt(fixed ?? `ECHO[${text}]`, stop);
      if (said !== "") yield { type: "text", text: said };
      yield* endOf(ID, calls);
    },
  };
}

/** What is said whatever tools there are; undefined for a text that is only repeated. */
function fixedAnswer(
  messages: readonly Message[],
  text: string,
  failures: Map<string, number>,
): string | undefined {
  const last = messages.at(-1);
  if (last?.role === "tool") return `TOOLSAID[${oneLine(last.content)}]`;
  const second = text.startsWith("The answer is not valid") ? maybeSecondAnswer(messages) : undefined;
  if (second !== undefined) return second;
  failMaybe(text, failures);
  const verbatim = maybeAfterLine(text, "SAY:");
  return verbatim && beforeLine(verbatim, "THEN:");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 80);
}

function maybeSecondAnswer(messages: readonly Message[]): string | undefined {
  const texts = messages.filter(({ role }) => role === "user").map(textOf);
  return texts.map((text) => maybeAfterLine(text, "THEN:")).find((text) => text !== undefined);
}

function failMaybe(text: string, failures: Map<string, number>): void {
  const fail = /^FAIL(?: (?<times>\d+))?$/m.exec(text);
  if (fail === null) return;
  const failed = failures.get(text) ?? 0;
  const times = fail.groups?.times;
  if (times === undefined) throw new ModelError("script provider failed", { code: "request" });
  if (failed >= Number(times)) return;
  failures.set(text, failed + 1);
  throw new ModelError("script provider failed", { code: "server", retryAfterMs: 0 });
}

/** What comes after the first line that is just this. */
function maybeAfterLine(text: string, line: string): string | undefined {
  const lines = text.split("\n");
  const at = lines.indexOf(line);
  return at === -1 ? undefined : lines.slice(at + 1).join("\n");
}

function beforeLine(text: string, line: string): string {
  const lines = text.split("\n");
  const at = lines.indexOf(line);
  return at === -1 ? text : lines.slice(0, at).join("\n");
}

function callsIn(text: string, nextId: () => string): readonly ToolCall[] {
  return [...text.matchAll(/^CALL (?<name>\S+)(?: (?<input>.*))?$/gm)].map(({ groups }) => ({
    id: nextId(),
    name: groups?.name ?? "",
    arguments: groups?.input ?? "",
  }));
}

function cutAt(text: string, stop: readonly string[]): string {
  const places = stop.map((each) => text.indexOf(each)).filter((at) => at !== -1);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
}
