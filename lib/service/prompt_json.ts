import type { LocatedPrompt } from "../catalog/prompts/make.ts";
import { lineOfExport } from "../catalog/prompts/claim.ts";
import { type Json, toJson } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import { hostFiles } from "../host/files.ts";
import { DEFAULT_HANDLER } from "../prompt/handler.ts";
import { UsageError } from "./exit_code.ts";
import { hiddenSecrets } from "./hidden_secrets.ts";
import { type PromptAnswer, promptAnswer } from "./prompt_answer.ts";
import type { PromptTool } from "./prompt_tools.ts";
import { promptVariables } from "./prompt_variables.ts";

/** Everything about a prompt as plain data. */
export interface PromptJson {
  readonly path: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Of a module: the name it is exported by. */
  readonly export?: string;
  readonly template: string;
  readonly variables: readonly string[];
  /** The variables without a value. */
  readonly missing: readonly string[];
  /** Values for which there is no variable. */
  readonly unused: readonly string[];
  /** What is sent; null where that cannot be told. */
  readonly text: string | null;
  readonly answer: PromptAnswer;
  readonly tools: readonly PromptTool[];
  readonly mcp: Json;
  readonly addons: Json;
  readonly handler: { readonly [event: string]: HandlerJson };
  readonly metadata: Json;
  readonly promptHash: string;
  readonly contractHash: string;
}

/** What is said on an event; null stands for a function of the module. */
interface HandlerJson {
  readonly text: string | null;
  readonly isDefault: boolean;
}

/** What is known besides the prompt. */
export interface PromptJsonOptions {
  readonly tools: readonly PromptTool[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** Everything about a prompt, without what may be secret. @throws {UsageError} when the values cannot be filled in */
export async function promptJson(
  located: LocatedPrompt,
  { tools, values }: PromptJsonOptions,
): Promise<PromptJson> {
  const { prompt, claim: { source, exported } } = located;
  const { path, template, metadata, handler } = prompt;
  const { promptHash, contractHash } = prompt.info();
  const { names, needed } = promptVariables(located);
  const given = Object.keys(values).filter((name) => values[name] !== undefined);
  const isKnown = names.length > 0 || source.kind === "text"; // a renderer of a module may not say what it takes
  const missing = needed.filter((name) => !given.includes(name));
  return {
    path,
    file: source.file,
    line: exported === undefined ? 1 : await lineOf(source.path, exported),
    export: exported,
    template,
    variables: names,
    missing,
    unused: isKnown ? given.filter((name) => !names.includes(name)) : [],
    text: missing.length > 0 ? null : textOf(prompt, values),
    answer: promptAnswer(prompt),
    tools,
    mcp: hiddenSecrets(toJson(prompt.mcp)),
    addons: hiddenSecrets(toJson(prompt.addons)),
    handler: {
      onException: handlerJson(handler.onException, DEFAULT_HANDLER.onException),
      onInterrupt: handlerJson(handler.onInterrupt, DEFAULT_HANDLER.onInterrupt),
      onInterruptFinal: handlerJson(handler.onInterruptFinal, DEFAULT_HANDLER.onInterruptFinal),
    },
    metadata: toJson(metadata),
    promptHash,
    contractHash,
  };
}

async function lineOf(path: string, exported: string): Promise<number> {
  return lineOfExport(await hostFiles({ root: "/" }).readText(path).catch(() => ""), exported);
}

/** Without values nobody has said that there is a text. */
function textOf(prompt: LocatedPrompt["prompt"], values: PromptJsonOptions["values"]): string | null {
  try {
    return prompt.render(values);
  } catch (error) {
    if (!(error instanceof PromptError)) throw error;
    if (Object.keys(values).length === 0) return null;
    throw new UsageError(error.message.split("\n"), { command: "show" });
  }
}

function handlerJson(value: unknown, byDefault: string): HandlerJson {
  if (value === undefined) return { text: byDefault, isDefault: true };
  return { text: typeof value === "string" ? value : null, isDefault: false };
}
