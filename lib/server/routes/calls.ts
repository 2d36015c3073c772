import { defineRoute } from "../route.ts";
import { followed } from "../run_answers.ts";
import { EVENT_ANSWER } from "../schemas.ts";

/** A text of calls that runs while it is being sent. */
export const callRoutes = [
  defineRoute({
    method: "POST",
    path: "/v1/calls",
    summary: "Runs the calls of the body, each as soon as it has come; a body that breaks off ends the run",
    responses: { 200: EVENT_ANSWER },
    problems: { 429: ["limit"], 503: ["stopping", "readers"] },
    access: "token",
    accepts: "calls",
    async handle(context) {
      const gone = new AbortController();
      const text = context.text(gone.signal);
      const run = await context.service.start({ kind: "calls", name: "body.calls", text });
      return followed(context, run, { onGone: () => gone.abort() });
    },
  }),
];
