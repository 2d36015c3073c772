// What the providers send, event by event, for an answer: four formats as they are on the wire.

/** A piece of an answer; a text in several strings comes in several events. */
export type AnswerPart =
  | { readonly text: string | readonly string[] }
  | { readonly reasoning: string | readonly string[]; readonly signature?: string }
  | {
    readonly call: {
      readonly id?: string;
      readonly name: string;
      readonly arguments: string | readonly string[];
    };
  };

/** An answer, in words that all providers share. */
export interface WireAnswer {
  readonly parts: readonly AnswerPart[];
  /** Default: 10 in, 5 out. */
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    readonly cached?: number;
    /** Of Anthropic alone. */
    readonly cacheWrite?: number;
    readonly reasoning?: number;
  };
  /** Default: `calls` when there are any, else `stop`. `none`: the stream ends without one. */
  readonly finish?: "stop" | "length" | "calls" | "filter" | "none";
  /** In the chat format: usage comes with the last piece, as Mistral sends it, not after it. */
  readonly usageAtEnd?: boolean;
  /** An error of the provider in the middle of the stream, after the parts. */
  readonly streamError?: { readonly type: string; readonly message: string };
}

/** The four formats. */
export type WireFormat = "chat" | "responses" | "anthropic" | "google";

/** The format that an address asks for. */
export function formatOf(path: string): WireFormat | undefined {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "anthropic";
  return path.includes(":streamGenerateContent") ? "google" : undefined;
}

/** The events of an answer, each with the empty line at its end. */
export function wireEvents(format: WireFormat, answer: WireAnswer): readonly string[] {
  const calls = answer.parts.filter((part) => "call" in part);
  const finish = answer.finish ?? (calls.length > 0 ? "calls" : "stop");
  const whole = { usage: { input: 10, output: 5 }, ...answer, finish };
  switch (format) {
    case "chat":
      return chatEvents(whole);
    case "responses":
      return responsesEvents(whole);
    case "anthropic":
      return anthropicEvents(whole);
    case "google":
      return googleEvents(whole);
  }
}

/** The body of an error, as the provider writes it. */
export function wireError(
  format: WireFormat,
  error: { status: number; type: string; message: string },
): string {
  const { status, type, message } = error;
  if (format === "anthropic") return JSON.stringify({ type: "error", error: { type, message } });
  if (format === "google") {
    return JSON.stringify({ error: { code: status, message, status: type.toUpperCase() } });
  }
  return JSON.stringify({ error: { message, type, param: null, code: type } });
}

type Whole = WireAnswer & Required<Pick<WireAnswer, "usage" | "finish">>;

const pieces = (text: string | readonly string[]): readonly string[] =>
  typeof text === "string" ? [text] : text;
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, value: object = {}): string => `event: ${type}\n${data({ type, ...value })}`;

function chatEvents({ parts, usage, finish, streamError, usageAtEnd }: Whole): readonly string[] {
  const head = { id: "chat_1", object: "chat.completion.chunk", created: 1, model: "test" };
  const chunk = (delta: unknown, choice: object = {}, more: object = {}) =>
    data({ ...head, choices: [{ index: 0, delta, finish_reason: null, ...choice }], ...more });
  const events = [chunk({ role: "assistant", content: "" })];
  let index = 0;
  for (const part of parts) {
    if ("text" in part) events.push(...pieces(part.text).map((content) => chunk({ content })));
    else if ("reasoning" in part) {
      events.push(...pieces(part.reasoning).map((text) => chunk({ reasoning_content: text })));
    } else {
      const at = index++;
      const { id = `call_${at + 1}`, name } = part.call;
      events.push(
        chunk({ tool_calls: [{ index: at, id, type: "function", function: { name, arguments: "" } }] }),
      );
      events.push(
        ...pieces(part.call.arguments).map((text) =>
          chunk({ tool_calls: [{ index: at, function: { arguments: text } }] })
        ),
      );
    }
  }
  if (streamError) return [...events, data({ error: { ...streamError, code: streamError.type } })];
  if (finish === "none") return events;
  const reasons = { stop: "stop", length: "length", calls: "tool_calls", filter: "content_filter" };
  const told = {
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      ...(usage.cached !== undefined && { prompt_tokens_details: { cached_tokens: usage.cached } }),
      ...(usage.reasoning !== undefined &&
        { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
    },
  };
  const done = "data: [DONE]\n\n";
  if (usageAtEnd) return [...events, chunk({}, { finish_reason: reasons[finish] }, told), done];
  return [
    ...events,
    chunk({}, { finish_reason: reasons[finish] }),
    data({ ...head, choices: [], ...told }),
    done,
  ];
}

function responsesEvents({ parts, usage, finish, streamError }: Whole): readonly string[] {
  let sequence = 0;
  const event = (type: string, value: object) => named(type, { sequence_number: sequence++, ...value });
  const response = { id: "resp_1", object: "response", created_at: 1, model: "test", output: [] };
  const events = [event("response.created", { response: { ...response, status: "in_progress" } })];
  parts.forEach((part, index) => {
    const at = { output_index: index };
    const item_id = `item_${index}`;
    if ("text" in part) {
      const item = { id: item_id, type: "message", role: "assistant" };
      events.push(
        event("response.output_item.added", { ...at, item: { ...item, status: "in_progress", content: [] } }),
      );
      const content = { ...at, item_id, content_index: 0 };
      events.push(
        ...pieces(part.text).map((delta) =>
          event("response.output_text.delta", { ...content, delta, logprobs: [] })
        ),
      );
      const text = pieces(part.text).join("");
      const whole = [{ type: "output_text", text, annotations: [], logprobs: [] }];
      events.push(
        event("response.output_item.done", { ...at, item: { ...item, status: "completed", content: whole } }),
      );
    } else if ("reasoning" in part) {
      const item = { id: item_id, type: "reasoning", encrypted_content: part.signature ?? null };
      const summary = { ...at, item_id, summary_index: 0 };
      events.push(event("response.output_item.added", { ...at, item: { ...item, summary: [] } }));
      events.push(
        event("response.reasoning_summary_part.added", {
          ...summary,
          part: { type: "summary_text", text: "" },
        }),
      );
      events.push(
        ...pieces(part.reasoning).map((delta) =>
          event("response.reasoning_summary_text.delta", { ...summary, delta })
        ),
      );
      const text = pieces(part.reasoning).join("");
      events.push(
        event("response.output_item.done", {
          ...at,
          item: { ...item, summary: [{ type: "summary_text", text }] },
        }),
      );
    } else {
      const text = pieces(part.call.arguments).join("");
      const item = {
        id: item_id,
        type: "function_call",
        call_id: part.call.id ?? `call_${index + 1}`,
        name: part.call.name,
      };
      events.push(
        event("response.output_item.added", {
          ...at,
          item: { ...item, status: "in_progress", arguments: "" },
        }),
      );
      events.push(
        ...pieces(part.call.arguments).map((delta) =>
          event("response.function_call_arguments.delta", { ...at, item_id, delta })
        ),
      );
      events.push(event("response.function_call_arguments.done", { ...at, item_id, arguments: text }));
      events.push(
        event("response.output_item.done", {
          ...at,
          item: { ...item, status: "completed", arguments: text },
        }),
      );
    }
  });
  if (streamError) {
    return [...events, event("error", { error: { ...streamError, code: streamError.type, param: null } })];
  }
  if (finish === "none") return events;
  const why = { length: "max_output_tokens", filter: "content_filter" };
  const reason = finish === "length" || finish === "filter" ? why[finish] : undefined;
  const type = reason === undefined ? "response.completed" : "response.incomplete";
  events.push(event(type, {
    response: {
      ...response,
      status: reason === undefined ? "completed" : "incomplete",
      incomplete_details: reason === undefined ? null : { reason },
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached ?? 0 },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
        total_tokens: usage.input + usage.output,
      },
    },
  }));
  return events;
}

function anthropicEvents({ parts, usage, finish, streamError }: Whole): readonly string[] {
  const events = [named("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "test",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: usage.input - (usage.cached ?? 0) - (usage.cacheWrite ?? 0),
        cache_read_input_tokens: usage.cached ?? 0,
        cache_creation_input_tokens: usage.cacheWrite ?? 0,
        output_tokens: 1,
      },
    },
  })];
  parts.forEach((part, index) => {
    const block = (content_block: object) =>
      events.push(named("content_block_start", { index, content_block }));
    const delta = (delta: object) => events.push(named("content_block_delta", { index, delta }));
    if ("text" in part) {
      block({ type: "text", text: "" });
      pieces(part.text).forEach((text) => delta({ type: "text_delta", text }));
    } else if ("reasoning" in part) {
      block({ type: "thinking", thinking: "", signature: "" });
      pieces(part.reasoning).forEach((thinking) => delta({ type: "thinking_delta", thinking }));
      if (part.signature !== undefined) delta({ type: "signature_delta", signature: part.signature });
    } else {
      block({ type: "tool_use", id: part.call.id ?? `call_${index + 1}`, name: part.call.name, input: {} });
      pieces(part.call.arguments).forEach((partial_json) =>
        delta({ type: "input_json_delta", partial_json })
      );
    }
    events.push(named("content_block_stop", { index }));
  });
  if (streamError) return [...events, named("error", { error: streamError })];
  if (finish === "none") return events;
  const reasons = { stop: "end_turn", length: "max_tokens", calls: "tool_use", filter: "refusal" };
  const delta = { stop_reason: reasons[finish], stop_sequence: null };
  events.push(named("message_delta", { delta, usage: { output_tokens: usage.output } }));
  return [...events, named("message_stop")];
}

function googleEvents({ parts, usage, finish, streamError }: Whole): readonly string[] {
  const event = (part: object) =>
    data({ candidates: [{ content: { parts: [part], role: "model" }, index: 0 }], modelVersion: "test" });
  const events = parts.flatMap((part) => {
    if ("text" in part) return pieces(part.text).map((text) => event({ text }));
    if ("reasoning" in part) return pieces(part.reasoning).map((text) => event({ text, thought: true }));
    const args: unknown = JSON.parse(pieces(part.call.arguments).join("") || "{}");
    return [event({ functionCall: { name: part.call.name, args }, thoughtSignature: "signed" })];
  });
  if (streamError) {
    return [...events, data({ error: { code: 503, message: streamError.message, status: "UNAVAILABLE" } })];
  }
  if (finish === "none") return events;
  const reasons = { stop: "STOP", length: "MAX_TOKENS", calls: "STOP", filter: "SAFETY" };
  return [
    ...events,
    data({
      candidates: [{ content: { parts: [], role: "model" }, finishReason: reasons[finish], index: 0 }],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
        ...(usage.cached !== undefined && { cachedContentTokenCount: usage.cached }),
        ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
        totalTokenCount: usage.input + usage.output,
      },
      modelVersion: "test",
    }),
  ];
}
