// review/code: the findings of a review, as data
import { definePrompt } from "orrery";
import { z } from "zod";

const finding = z.object({
  line: z.number().int().min(1),
  severity: z.enum(["note", "warning", "error"]),
  text: z.string(),
});

export default definePrompt({
  template: `Review this file. Report what is wrong with it, not what is a matter of taste.

{file}

Answer with JSON: {{"verdict": "pass" or "fail", "findings": [{{"line", "severity", "text"}}]}}.`,
  format: z.object({ verdict: z.enum(["pass", "fail"]), findings: z.array(finding) }),
  handler: {
    onException: (prompt, state) =>
      prompt.extend({
        path: `${prompt.rootPath}/hint`,
        template: state.exceptionRetriesCount === 1
          ? "{error_message}\nPlease answer with the JSON alone."
          : "Attempt {retry_count} of {max_retries}. {error_message}\nOne JSON object, no prose, no code fence.",
      }),
  },
  metadata: { version: "1" },
});
