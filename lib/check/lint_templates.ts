import { didYouMean } from "../parse/agent_near.ts";
import { DESTINATIONS } from "../parse/agent_slot_path.ts";
import type { AgentLook } from "./agent_look.ts";
import type { LintFinding } from "./lint_rule.ts";

const LOOKS_LIKE_ONE = /\{\{[^{}]*\}\}/g;
const PLACEHOLDER = /^\{\{[ \t]*(?:([\w-]+)\.)?[\w-]+[ \t]*\}\}$/;
const ENV = /\$\{env\.\w+\}/;

/** What looks like a placeholder and stays as it is (conversations.md 2.6). */
export function lintPlaceholders({ texts }: AgentLook): readonly LintFinding[] {
  return texts.flatMap(({ text, path }) =>
    [...text.matchAll(LOOKS_LIKE_ONE)].flatMap(([found]): readonly LintFinding[] => {
      const message = placeholderProblem(found);
      return message === undefined ? [] : [{ path, code: "W620", message }];
    })
  );
}

function placeholderProblem(found: string): string | undefined {
  const match = PLACEHOLDER.exec(found);
  if (match === null) {
    return `${
      JSON.stringify(found)
    } is no placeholder and stays as it is; write {{slot}} or {{destination.slot}}`;
  }
  const [, destination] = match;
  if (destination === undefined || DESTINATIONS.some((each) => each === destination)) return undefined;
  const near = didYouMean(destination, DESTINATIONS);
  return `${found} stays as it is: there is no destination ${JSON.stringify(destination)}${near}`;
}

/** `${env.NAME}` where it is only text (conversations.md 3). */
export function lintEnv({ texts }: AgentLook): readonly LintFinding[] {
  return texts.flatMap(({ text, path, hasEnv }): readonly LintFinding[] => {
    const [found] = hasEnv ? [] : ENV.exec(text) ?? [];
    return found === undefined ? [] : [{
      path,
      code: "W625",
      message: `${found} stays as it is here`,
      hint: "The environment is inserted in url, in the values of headers and in model only.",
    }];
  });
}
