import { onlyFields, toJsonObject } from "../../core/core.ts";
import type { ProjectNow, StartRun } from "../../service/service.ts";
import { json } from "../answers.ts";
import { insidePath } from "../guard.ts";
import { defineRoute } from "../route.ts";
import { started } from "../run_answers.ts";
import { invalid } from "../problem.ts";
import { randomName } from "../session.ts";
import {
  ASK,
  BUDGET,
  EFFORT,
  EVENT_ANSWER,
  listOf,
  MAX_NAME,
  MAY_LACK,
  MAY_NOT_START,
  MODEL,
  NAME,
  SCHEMAS,
  STREAM,
} from "./schemas.ts";
import type { FromJsonSchema } from "../../schema/input_type.ts";

const WANTED = onlyFields({
  file: { ...NAME, description: "A call file or a document, relative to the project root" },
  path: { ...NAME, description: "A prompt or a tactic of the project" },
  input: { type: "object", description: "Values of the document or the prompt" },
  texts: {
    type: "array",
    maxItems: 1_000,
    items: { type: "string", maxLength: MAX_NAME },
    description:
      "Of a prompt: names in input whose values are text as it was typed, to be read as the prompt wants it; each has to be a variable of it",
  },
  prompt: { type: "string", description: "Of a document: what it is asked, put before its first block" },
  blocks: {
    type: "array",
    maxItems: 100,
    items: { type: "string", maxLength: MAX_NAME },
    description: "Of a document: blocks of other files, FILE#REF",
  },
  mode: { enum: ["append", "prepend", "replace"], description: "Of a document: how results are merged" },
  out: {
    ...NAME,
    description: "Of a document: where its result goes: beside, none, or a file. Without it: none",
  },
  say: { type: "string", description: "Of a prompt: what is said to it" },
  profile: {
    type: "string",
    maxLength: MAX_NAME,
    description: "Of a prompt: the profile of orrery.yaml that is asked",
  },
  model: MODEL,
  effort: EFFORT,
  budget: BUDGET,
  ask: ASK,
  stream: STREAM,
});

function requestOf(wanted: FromJsonSchema<typeof WANTED>): StartRun {
  const { file, path, texts, prompt, blocks, mode, out, say, profile, model, effort, budget } = wanted;
  const both = {
    input: wanted.input && toJsonObject(wanted.input),
    canAsk: wanted.ask,
    model,
    effort,
    budget,
  };
  if (file !== undefined) {
    if (path !== undefined) throw invalid("found file and path, expected one of them");
    refuse("file", { texts, say, profile });
    return {
      kind: "file",
      file: insidePath(file),
      prompt,
      blocks,
      mode,
      out: out === undefined || out === "beside" || out === "none" ? out : { file: insidePath(out) },
      ...both,
    };
  }
  if (path === undefined) throw invalid("found neither file nor path, expected one of them");
  refuse("path", { prompt, blocks, mode, out });
  return { kind: "prompt", path: insidePath(path), texts, say, profile, ...both };
}

/** A field that means nothing is a mistake, and not left out silently. */
function refuse(kind: string, fields: Readonly<Record<string, unknown>>): void {
  for (const name in fields) {
    if (fields[name] === undefined) continue;
    throw invalid(`found ${kind} and ${name}, expected no ${name} with ${kind}`);
  }
}

/** Runs are started and listed. */
export const runsRoutes = [
  defineRoute("POST", "/v1/runs", "Starts a call file, a document, a prompt or a tactic", {
    body: WANTED,
    responses: {
      200: EVENT_ANSWER,
      202: { description: "It has begun, and is kept; Location says where it is", schema: SCHEMAS.Started },
    },
    problems: {
      403: ["outside", "refused"],
      404: ["not-found"],
      ...MAY_NOT_START,
    },
    async handle(context) {
      return started(context, await context.service.start(requestOf(context.body)), context.body);
    },
  }),
  defineRoute("GET", "/v1/runs", "The runs of the project, newest first", {
    query: onlyFields({
      status: SCHEMAS.RunState.properties.status,
      kind: SCHEMAS.RunState.properties.kind,
      file: { type: "string", maxLength: MAX_NAME },
      limit: { type: "integer", minimum: 1, maximum: 200 },
      before: { type: "string", maxLength: 100, description: "Only those that began before this run" },
    }),
    responses: {
      200: {
        description: "Runs",
        schema: listOf("runs", SCHEMAS.RunState),
      },
    },
    problems: MAY_LACK,
    handle: async ({ service, query }) => json({ runs: await service.runs(query) }),
  }),
  defineRoute(
    "GET",
    "/v1/events",
    "What goes on in the project: how many runs are under way, and which wait for a person",
    {
      description:
        "An event `project` at once, and one whenever a run begins, ends, asks or is answered. Another `server` than before: it was started again.",
      responses: { 200: { description: "Server-sent events", type: "text/event-stream" } },
      problems: { 503: ["readers"] },
      handle({ service, settings }) {
        const reader = service.watch();
        const left = new AbortController();
        async function* texts(): AsyncGenerator<string, undefined> {
          for (let now = await reader.next(); now !== undefined; now = await reader.next()) {
            yield `event: project\ndata: ${JSON.stringify(projectJson(now))}\n\n`;
            await settings.clock.sleep(EVERY_MS, left.signal).catch(() => undefined);
          }
        }
        const leave = (): void => {
          left.abort();
          reader.leave();
        };
        return settings.streams.open({ texts: texts(), leave });
      },
    },
  ),
];

/** Pages need no more: hundreds of runs may begin and end in this time. */
const EVERY_MS = 200;

/** The name of this process. */
const SERVER = randomName();

function projectJson({ version, active, waiting }: ProjectNow): unknown {
  const runs = waiting.map(({ id, kind, file = null, asks }) => ({ id, kind, file, asks }));
  return { server: SERVER, version, active, waiting: runs };
}
