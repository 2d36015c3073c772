import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import { computerUseConfig } from "./addons.ts";
import { changedParts } from "./changed_parts.ts";
import { contractOf } from "./contract_of.ts";
import { linkedParts } from "./linked_parts.ts";
import { promptInfo } from "./prompt_info.ts";
import { keepParts, type PromptParts } from "./prompt_parts.ts";
import { promptPath } from "./prompt_path.ts";
import { promptProblem } from "./prompt_problem.ts";
import type { AnyPrompt } from "./prompt_type.ts";
import { RenderError } from "./render_error.ts";

/** A prompt of these parts: a function, frozen. */
export function makePrompt(parts: PromptParts): AnyPrompt {
  const { text, renderer: _renderer, handlers: _handlers, ...shownParts } = parts;
  const call = (...args: readonly unknown[]) => args.length === 0 ? parts.template : rendered(parts, args[0]);
  const fields: Omit<AnyPrompt, "extend"> & { readonly extend: (overrides: unknown) => AnyPrompt } = {
    kind: "prompt",
    ...shownParts,
    vars: text.vars,
    allowWebSearch: parts.addons.webSearch === true,
    computerUseConfig: computerUseConfig(parts.addons),
    unlinked: unlinkedOf(parts),
    render: (args?: unknown) => rendered(parts, args),
    parse: async (text) =>
      await contractOf(prompt).parse(text, { prompt, signal: new AbortController().signal }),
    extend: (overrides) => makePrompt(changedParts(parts, ...overridesOf(parts, overrides))),
    link: (implementations) => makePrompt(linkedParts(parts, implementations)),
    info: () => promptInfo(parts),
  };
  Object.defineProperty(call, "name", { value: parts.path }); // what a stack trace or an inspector calls it
  const made: unknown = Object.freeze(Object.assign(call, fields));
  const prompt = made as AnyPrompt; // `extend` has the types of what it is given, which no implementation could say
  keepParts(prompt, parts);
  return prompt;
}

function rendered({ path, text }: PromptParts, args: unknown = {}): string {
  try {
    if (!isRecord(args)) throw new RenderError("arguments must be an object");
    return text.render(args);
  } catch (cause) {
    throw cause instanceof RenderError
      ? promptProblem(path, cause.message, { code: "render", cause })
      : cause;
  }
}

function unlinkedOf({ tools }: PromptParts): readonly string[] {
  return Object.freeze(
    tools.flatMap((tool) => typeof tool !== "string" && tool.run === undefined ? [tool.name] : []),
  );
}

function overridesOf(
  { path }: PromptParts,
  overrides: unknown,
): readonly [fields: Readonly<Record<string, unknown>>, path: string] {
  const given = isRecord(overrides) ? overrides.path : undefined;
  if (given !== undefined && typeof given !== "string") {
    throw promptProblem(path, `path must be a string, found ${shown(given)}`);
  }
  const newPath = promptPath(given ?? "");
  if (!isRecord(overrides) || newPath === "") throw promptProblem(path, "extend() needs a new path");
  return [overrides, newPath];
}
