import { nearestName, orMeant } from "../core/nearest.ts";
import { DESTINATIONS } from "../parse/agent_file.ts";
import type { AgentLook } from "./agent_look.ts";
import type { LintFinding } from "./lint_rule.ts";

const LOOKS_LIKE_ONE = /\{\{[^{}]*\}\}/g;
const PLACEHOLDER = /^\{\{[ \t]*(?:([\w-]+)\.)?[\w-]+[ \t]*\}\}$/;
const ENV = /\$\{env\.\w+\}/;

/** `{name}` and `${name}`, as other kinds of files have it. */
const FOREIGN = /(?<!\{)\$?\{((?:[\w-]+\.)?[\w-]+)\}(?!\})/g;

/** What looks like a placeholder and stays as it is (conversations.md 2.6). */
export function lintPlaceholders({ agent, texts, writes }: AgentLook): readonly LintFinding[] {
  const known = new Set([
    ...Object.keys(agent.constants),
    ...writes.flatMap(({ slot: { destination, name } }) => [name, `${destination}.${name}`]),
  ]);
  return texts.flatMap(({ text, path }) => {
    const messages = [...text.matchAll(LOOKS_LIKE_ONE)].map(([found]) => placeholderProblem(found));
    const foreign = [...text.matchAll(FOREIGN)].map(([found, name = ""]) =>
      known.has(name) ? `${found} stays as it is; the slot or constant is {{${name}}}` : undefined
    );
    return [...messages, ...foreign].flatMap((message): readonly LintFinding[] =>
      message === undefined ? [] : [{ path, code: "W620", message }]
    );
  });
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
  const near = orMeant(nearestName(destination, DESTINATIONS));
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
