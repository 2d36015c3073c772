// A handler that asks a second agent what is wrong with an answer, before the first one is asked again.
import { defineTactic } from "orrery";
import type { diagnose, task } from "../prompts/fix/plan.ts";

export const plan = defineTactic({
  name: "plan",
  agents: ["planner", "fixer"],
  async call(work: string, { agents, prompts, signal }) {
    const diagnosis = prompts.get<typeof diagnose>("fix/plan/diagnose");
    const careful = prompts.get<typeof task>("fix/plan/task").extend({
      path: "fix/plan/careful",
      handler: {
        async onException(prompt, state) {
          const error = Object.values(state.exceptionRetries).flat().at(-1)?.message ?? "";
          const answer = state.attempts.at(-1)?.content ?? "";
          const advice = await agents.fixer.open().ask(diagnosis, { answer, error }, { signal });
          return prompt.extend({ path: `${prompt.rootPath}/bugfix`, template: "{error_message}. {advice}" })
            .render({ error_message: error, advice: advice.text });
        },
      },
    });
    const { parsed } = await agents.planner.open().ask(careful, { work }, { signal });
    return parsed.map((edge) => edge.join(" before ")).join(", ");
  },
});
