import { isJsonObject } from "../../core/json.ts";
import type { JsonSchema } from "../../core/gadget.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { validateInput } from "../../schema/validate.ts";
import type { RunHandle, RunState, Service, TalkHandle } from "../../service/service.ts";
import type { McpTool } from "./mcp_tools.ts";
import { hearRun } from "./run_talk.ts";
import type { ToolCaller } from "./run_talk.ts";

/** What a call gives. */
export interface ToolResult {
  readonly text: string;
  /** Of a tool that has a schema for it. */
  readonly structured?: { readonly [key: string]: Json };
  readonly isError: boolean;
}

/** What a call needs. */
export interface CallToolMeans {
  readonly service: Service;
  readonly caller: ToolCaller;
}

/** Calls a tool. What goes wrong in it is its result. @throws what `Service.start` throws */
export async function callTool(
  { work, output }: McpTool,
  input: JsonObject,
  { service, caller }: CallToolMeans,
): Promise<ToolResult> {
  const canAsk = caller.ask !== undefined;
  switch (work.kind) {
    case "gadget":
      return await gadgetResult(
        await service.start({ kind: "gadget", name: work.name, input, canAsk }),
        caller,
        output,
      );
    case "agent":
      return await agentResult(work.file, input, { service, caller });
    case "prompt":
      return await runResult(await service.start({ kind: "prompt", path: work.path, input, canAsk }), caller);
    case "document": {
      const { prompt, ...inputs } = input;
      const wish = work.takesPrompt && typeof prompt === "string" ? { prompt, input: inputs } : { input };
      return await runResult(await service.start({ kind: "file", file: work.file, ...wish, canAsk }), caller);
    }
  }
}

async function gadgetResult(
  run: RunHandle,
  caller: ToolCaller,
  output: JsonSchema | undefined,
): Promise<ToolResult> {
  const { call } = await hearRun(run, caller);
  if (call?.type === "call-result") {
    const { result } = call;
    const text = textOf(result);
    if (output === undefined) return { text, isError: false };
    // A client refuses a result that is not as the tool was said to give it, such as one that was cut.
    const isFit = isJsonObject(result) && (await validateInput(output, result)).ok;
    return isFit ? { text, structured: { ...result }, isError: false } : { text, isError: true };
  }
  if (call?.type === "call-error") {
    const allow = call.flag === undefined ? "" : `\nIt would be allowed by ${call.flag}`;
    return { text: `${call.error}${allow}`, isError: true };
  }
  if (call?.type === "call-skip") return { text: call.reason, isError: true };
  return failed(await run.ended);
}

async function runResult(run: RunHandle, caller: ToolCaller): Promise<ToolResult> {
  await hearRun(run, caller);
  const state = await run.ended;
  return state.status === "done" ? { text: textOf(state.value ?? null), isError: false } : failed(state);
}

async function agentResult(
  file: string,
  { message, conversation }: JsonObject,
  { service: { talks }, caller }: CallToolMeans,
): Promise<ToolResult> {
  if (typeof message !== "string" || message.trim() === "") {
    return { text: "message: expected a text, what is said to the agent", isError: true };
  }
  const canAsk = caller.ask !== undefined;
  const { talk, turn } = typeof conversation === "string"
    ? await goneOn(await talks.open(conversation), { file, message })
    : await talks.begin({ agent: file, message, canAsk });
  const { messages } = await hearRun(turn, caller);
  const state = await turn.ended;
  if (state.status === "failed" || state.status === "stopped") return failed(state);
  const status = state.status === "completed" ? "completed" : "held";
  return { text: messages.join("\n\n"), structured: { conversation: talk.id, status }, isError: false };
}

async function goneOn(
  talk: TalkHandle,
  { file, message }: { readonly file: string; readonly message: string },
): Promise<{ readonly talk: TalkHandle; readonly turn: RunHandle }> {
  const { agent } = await talk.state({ last: 1 });
  if (agent !== file) {
    throw new WrongTalkError(`The conversation ${talk.id} is one with ${agent}, and not with ${file}`);
  }
  return { talk, turn: await talk.say(message) };
}

/** A conversation with another agent was named. */
export class WrongTalkError extends Error {
  override readonly name = "WrongTalkError";
}

function failed({ id, status, error }: RunState): ToolResult {
  const what = error ?? (status === "stopped" ? "it was stopped" : "it gave no result");
  return { text: `Run ${id}: ${what}`, isError: true };
}

/** Text as it is, everything else as JSON. */
function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, isJsonObject(value) ? 2 : undefined);
}
