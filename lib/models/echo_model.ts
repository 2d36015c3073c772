// `script/echo`: a model with fixed rules, for tests and first steps without a network. Its rules are part of the specification
// (cases/documents/README.md, "The script model").

import { type Message, textOf, type ToolCall } from "../core/message.ts";
import { type Model, ModelError, type ModelPart, type ModelRequest } from "../core/model.ts";

const ID = "script/echo";

/** The echo model. How often a text has failed, and how many calls it has made, it keeps for itself. */
export function echoModel(): Model {
  const failures = new Map<string, number>();
  let calls = 0;
  return {
    id: ID,
    async *stream(request) {
      request.signal?.throwIfAborted();
      const answer = answerTo(request, { failures, nextId: () => `call_${++calls}` });
      for (const call of answer.calls) {
        yield { type: "call-start", id: call.id, name: call.name };
        yield { type: "call-delta", id: call.id, text: call.arguments };
        yield { type: "call", call };
      }
      if (answer.text !== "") yield { type: "text", text: answer.text };
      yield finish(answer);
    },
  };
}

interface Answer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

interface EchoState {
  readonly failures: Map<string, number>;
  nextId(): string;
}

function finish({ calls }: Answer): ModelPart {
  const reason = calls.length > 0 ? "calls" : "stop";
  return { type: "finish", reason, usage: { input: 0, output: 0 }, model: ID };
}

function answerTo(request: ModelRequest, state: EchoState): Answer {
  const { messages, tools = [], stop = [] } = request;
  const last = messages.at(-1);
  const said = (text: string): Answer => ({ text: cutAt(text, stop), calls: [] });
  if (last?.role === "tool") return said(`TOOLSAID[${oneLine(last.content)}]`);
  const asked = messages.findLast(({ role }) => role === "user");
  const text = asked === undefined ? "" : textOf(asked);
  const second = text.startsWith("The answer is not valid") ? maybeSecondAnswer(messages) : undefined;
  if (second !== undefined) return said(second);
  failMaybe(text, state);
  const verbatim = maybeAfterLine(text, "SAY:");
  if (verbatim !== undefined) return said(beforeLine(verbatim, "THEN:"));
  const calls = tools.length === 0 ? [] : callsIn(text, state);
  return calls.length > 0 ? { text: "", calls } : said(`ECHO[${text}]`);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 80);
}

function maybeSecondAnswer(messages: readonly Message[]): string | undefined {
  const texts = messages.filter(({ role }) => role === "user").map(textOf);
  return texts.map((text) => maybeAfterLine(text, "THEN:")).find((text) => text !== undefined);
}

function failMaybe(text: string, { failures }: EchoState): void {
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

function callsIn(text: string, { nextId }: EchoState): readonly ToolCall[] {
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
