// What a run tells, folded into spans: the run, its steps, the questions to models, and the calls. Their names and attributes are those of
// OpenTelemetry's conventions for generative AI (github.com/open-telemetry/semantic-conventions-genai); what these do not know begins with `orrery.`.
import {
  isJsonObject,
  type Json,
  type JsonObject,
  maybeModelId,
  objectOrEmpty,
  type RunEvent,
  sha256,
} from "../../core/core.ts";
import type { RunObserver } from "../../run/run.ts";

/** How the spans of a run are made. */
export interface RunSpansOptions {
  /** What is run: a file, a prompt. */
  readonly name: string | undefined;
  /** What is said and given is in them. */
  readonly hasContent: boolean;
  /** The span of somebody else that the run is a part of. Default: it begins a trace, which follows from its id. */
  readonly parent?: { readonly traceId: string; readonly spanId: string };
  onBegin(): void;
  /** Takes each span when it has ended, in the JSON of OTLP. */
  onSpan(span: object): void;
  onEnd(): void;
}

/** A value; a number that is no count is `{ doubleValue }`. */
type Attribute = string | number | boolean | readonly string[] | { readonly doubleValue: number } | undefined;
type Attributes = Record<string, Attribute>;

interface OpenSpan {
  readonly name: string;
  readonly attributes: Attributes;
  /** It is a question to a model. */
  readonly isAsked?: boolean;
  /** Of a call: two of one id are told apart by it. */
  readonly line?: number;
  /** The number of the event that began it. */
  readonly seq: number;
  /** When that was here; undefined for one that another process began, and nothing in which has happened here. */
  at?: number;
}

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;

/** Those whose names the conventions write otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  xai: "x_ai",
};
const FINISHES: Readonly<Record<string, string>> = { calls: "tool_call", filter: "content_filter" };

/**
 * Follows one run, also over the turns of a conversation. What has not ended when its process dies is in no span; whoever goes on with the
 * run begins spans of its own for it, in the same trace.
 */
export function runSpans(
  { name: ofRun, hasContent, parent, onBegin, onSpan, onEnd }: RunSpansOptions,
): RunObserver {
  /** By the key of the step or the call, which begins with that of what it is in; the key of the run is empty. */
  const open = new Map<string, OpenSpan>();
  /** The names of the calls that were told of. */
  const names = new Map<string, string>();
  /** What steps are given, until they begin. */
  const inputs = new Map<string, Json>();
  /** The number of the first event that is told here; undefined before it. */
  let first: number | undefined;
  /** When that was. */
  let began = 0;
  /** ms since 1970 at the beginning of the run's own time, in which what lies between two processes does not count. */
  let epoch = 0;

  const content = (value: Json | undefined): string | undefined =>
    hasContent ? JSON.stringify(value) : undefined;

  const note = (key: string, attributes: Attributes) =>
    void Object.assign(open.get(key)?.attributes ?? {}, attributes);

  function taken(key: string): Json | undefined {
    const input = inputs.get(key);
    inputs.delete(key);
    return input;
  }

  function take(event: RunEvent): void {
    const { at, seq } = event;
    const begin = (key: string, span: Omit<OpenSpan, "at" | "seq">) =>
      void open.set(key, { ...span, seq, at: first === undefined ? undefined : at });
    const beginCall = (call: EventOf<"call-run" | "call-error">): void => {
      const key = callKey(call);
      const name = names.get(key) ?? "";
      begin(key, {
        name: `execute_tool ${name}`,
        line: call.line,
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": name,
          "gen_ai.tool.type": "function",
          "gen_ai.tool.call.id": call.invocationId,
          "gen_ai.tool.call.arguments": content(taken(key)),
          "orrery.step.key": key,
        },
      });
    };
    switch (event.type) {
      case "run-start":
        return begin("", runSpan(event, ofRun));
      case "step-start": {
        const { key, kind, name, attempt } = event;
        const common = { "orrery.step.key": key, "orrery.step.kind": kind, "orrery.step.attempt": attempt };
        // Others are named by what they are given: a file, an address.
        const isNamed = hasContent || kind === "step" || kind === "shell";
        if (kind !== "model") return begin(key, { name: isNamed ? name : kind, attributes: common });
        const { provider, model } = maybeModelId(name) ?? { provider: name, model: name };
        const asked = {
          "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
          "gen_ai.request.model": model,
        };
        note("", { ...asked, ...open.get("")?.attributes }); // those of the first question are the run's
        return begin(key, {
          name: `chat ${model}`,
          isAsked: true,
          attributes: {
            "gen_ai.operation.name": "chat",
            ...asked,
            "gen_ai.request.stream": true,
            "gen_ai.input.messages": content(objectsIn(objectOrEmpty(taken(key)).messages).map(messageOf)),
            ...common,
          },
        });
      }
      case "text-delta":
      case "reasoning-delta": {
        const span = open.get(event.step);
        if (span?.isAsked) span.attributes[FIRST_CHUNK] ??= { doubleValue: (at - (span.at ?? at)) / 1000 };
        return;
      }
      case "usage":
        return note(event.step, {
          "gen_ai.response.model": maybeModelId(event.model)?.model ?? event.model,
          ...usageOf(event),
        });
      case "step-end": {
        const { key, outcome, error } = event;
        if (open.get(key)?.isAsked && outcome !== undefined) {
          const { finish, text = "", calls = null } = objectOrEmpty(outcome);
          const reason = FINISHES[String(finish)] ?? String(finish);
          const said = { ...messageOf({ role: "assistant", content: text, calls }), finish_reason: reason };
          note(key, {
            "gen_ai.response.finish_reasons": [reason],
            "gen_ai.output.messages": content([said]),
          });
        }
        return end(key, event, error);
      }
      case "call-open":
        return void names.set(callKey(event), event.gadgetName);
      case "call-run":
        return beginCall(event);
      case "call-result":
      case "call-error": {
        const key = callKey(event);
        if (open.get(key)?.line !== event.line) {
          if (event.type === "call-result" || open.has(key)) return;
          beginCall(event); // it did not come to run
        }
        if (event.type === "call-error") return end(key, event, { code: event.code, message: event.error });
        note(key, { "gen_ai.tool.call.result": content(event.result) });
        return end(key, event);
      }
      case "run-end": {
        const { status, reason, error: message, usage } = event;
        note("", { ...usageOf(usage), "orrery.run.status": status, "orrery.run.reason": reason });
        for (const key of [...open.keys()].reverse()) { // what has broken off, and the run itself at last
          if (key === "") end(key, event, status === "failed" ? { code: reason, message } : undefined);
          else if (open.get(key)?.at !== undefined) end(key, event, { code: reason, message });
        }
        open.clear();
        names.clear();
        inputs.clear();
        first = undefined;
        return onEnd();
      }
    }
  }

  function end(
    key: string,
    { run, at }: RunEvent,
    error?: { readonly code?: string; readonly message?: string },
  ): void {
    const span = open.get(key);
    // A step that failed in another process may be done again here, which is not told as a beginning.
    if (first !== undefined || error === undefined) open.delete(key);
    if (span === undefined || first === undefined) return;
    const traceId = parent?.traceId ?? sha256(run).slice(0, 32);
    // No two events of a run have the same number, however often it goes on.
    const idOf = (from: number, seq: number): string => sha256(`${run}:${from}:${seq}`).slice(0, 16);
    const around = key === "" ? undefined : aroundOf(key);
    if (around !== undefined) around.at ??= began;
    const code = error && (error.code ?? "_OTHER");
    onSpan({
      traceId,
      spanId: idOf(first, span.seq),
      parentSpanId: around === undefined ? parent?.spanId : idOf(first, around.seq),
      name: span.name,
      kind: span.isAsked ? CLIENT : INTERNAL,
      startTimeUnixNano: nanoseconds(span.at ?? began),
      endTimeUnixNano: nanoseconds(at),
      attributes: keyValues({ ...span.attributes, "error.type": code }),
      status: { code: error ? FAILED : UNSET, message: hasContent ? error?.message : undefined },
      // What another process, or another turn, has made of the run.
      links: key === "" && first > 1 ? [{ traceId, spanId: idOf(1, 1) }] : undefined,
    });
  }

  function aroundOf(key: string): OpenSpan | undefined {
    const above = key.slice(0, Math.max(0, key.lastIndexOf("/")));
    return open.get(above) ?? (above === "" ? undefined : aroundOf(above));
  }

  const nanoseconds = (at: number): string => `${Math.round((epoch + at) * 1000)}000`;

  return {
    before: take,
    write(line) {
      if (line.type === "step" && hasContent) inputs.set(line.key, line.input);
      if (line.type !== "event") return;
      const { event } = line;
      if (first === undefined) {
        first = event.seq;
        epoch = Date.now() - event.at;
        began = event.at;
        onBegin();
      }
      take(event);
    },
  };
}

const INTERNAL = 1;
const CLIENT = 3;
const UNSET = 0;
const FAILED = 2;
const FIRST_CHUNK = "gen_ai.response.time_to_first_chunk";

function runSpan(
  { kind, run }: EventOf<"run-start">,
  file: string | undefined,
): Pick<OpenSpan, "name" | "attributes"> {
  const isWorkflow = kind === "calls" || kind === "document";
  const operation = isWorkflow ? "invoke_workflow" : "invoke_agent";
  return {
    name: file === undefined ? operation : `${operation} ${file}`,
    attributes: {
      "gen_ai.operation.name": operation,
      [isWorkflow ? "gen_ai.workflow.name" : "gen_ai.agent.name"]: file,
      "gen_ai.conversation.id": kind === "conversation" || kind === "chat" ? run : undefined,
      "orrery.run.id": run,
      "orrery.run.kind": kind,
    },
  };
}

/** The key of its step: it stands beside the answer that it is from. */
function callKey(
  { step = "", invocationId }: { readonly step?: string; readonly invocationId: string },
): string {
  return `${step.slice(0, step.lastIndexOf("/") + 1)}call:${invocationId}`;
}

function usageOf({ input, output, cached, reasoning, cost }: EventOf<"run-end">["usage"]): Attributes {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cached,
    "gen_ai.usage.reasoning.output_tokens": reasoning,
    "orrery.usage.cost": cost === undefined ? undefined : { doubleValue: cost },
  };
}

/** A message as the JSON Schemas of `gen_ai.input.messages` and `gen_ai.output.messages` have it; media are left out. */
function messageOf({ role = "", content = "", id = null, calls }: JsonObject): JsonObject {
  if (role === "tool") return { role, parts: [{ type: "tool_call_response", id, response: content }] };
  const texts = typeof content === "string" ? [content] : objectsIn(content).flatMap(({ text = "" }) => text);
  return {
    role,
    parts: [
      ...texts.filter((text) => text !== "").map((text) => ({ type: "text", content: text })),
      ...objectsIn(calls).map(({ id = null, name = "", arguments: given = "" }) => ({
        type: "tool_call",
        id,
        name,
        arguments: given,
      })),
    ],
  };
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Attributes as OTLP has them: a 64-bit number is text in its JSON. */
export function keyValues(attributes: Attributes): readonly JsonObject[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }]
  );
}

function anyValue(value: NonNullable<Attribute>): JsonObject {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  if (typeof value === "boolean") return { boolValue: value };
  return "doubleValue" in value ? { ...value } : { arrayValue: { values: value.map(anyValue) } };
}
