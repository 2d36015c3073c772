import { nearestName, orMeant } from "../core/nearest.ts";
import { MOST_TOLD } from "../parse/check_fields.ts";
import type { AgentLook } from "./agent_look.ts";
import type { LintFinding } from "./lint_rule.ts";

/** A memory of a step that is not there. */
export function lintMemory({ tree, places }: AgentLook): readonly LintFinding[] {
  const unknown = places.flatMap(({ step, path }) =>
    ("memory" in step ? step.memory ?? [] : []).flatMap((selection, index) =>
      "from" in selection && tree.find(selection.from) === undefined
        ? [{ from: selection.from, path: [...path, step.kind, "memory", index, "from"] }]
        : []
    )
  );
  // Each is compared with all ids.
  return unknown.slice(0, MOST_TOLD).map(({ from, path }) => {
    const near = orMeant(nearestName(from, tree.ids));
    const message = `there is no step ${JSON.stringify(from)}, so nothing is selected${near}`;
    return { path, code: "W624", message };
  });
}

const SECRET_HEADER =
  /^(proxy-)?authorization$|cookie|token|secret|passw|credential|(api|auth|access|private)[-_]?key/i;
const SECRET_VALUE = /^(bearer|basic|token)\s+\S|^(sk|pk|rk|ghp|gho|glpat|xox[abp])[-_]\w{8,}|^AKIA\w{12,}/i;
const INSERTED = /\{\{|\$\{env\./;

/** A key that stands in the file for all to see. */
export function lintSecretHeader({ places }: AgentLook): readonly LintFinding[] {
  return places.flatMap(({ step, path }) =>
    ("headers" in step ? step.headers : []).flatMap(({ key, value }, index): readonly LintFinding[] => {
      const isSecret = value !== "" && (SECRET_HEADER.test(key) || SECRET_VALUE.test(value));
      if (!isSecret || INSERTED.test(value)) return [];
      return [{
        path: [...path, step.kind, "headers", index, "value"],
        code: "W634",
        message: `the header ${JSON.stringify(key)} looks like a secret that is written in the file`,
        hint: "Write ${env.NAME}, and set the variable where the agent runs.",
      }];
    })
  );
}
