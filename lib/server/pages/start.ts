// What the forms of the pages are posted to: it works without a script, and says with one what is wrong with which field.
import { effortFrom, EFFORTS, type JsonObject, objectOf } from "../../core/core.ts";
import type { Look } from "../../service/look/look.ts";
import type { RunWishes, Service, StartRun } from "../../service/service.ts";
import { json, problem, seeOther } from "../answers.ts";
import { filledForm, filledJson } from "./form_fields.ts";
import { insidePath } from "../guard.ts";
import { failureOf, invalid } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { MAX_NAME, NAME } from "../api/schemas.ts";
import { problemPage } from "./layout.tsx";
import { FIELD_PREFIX } from "./schema_form.tsx";

const BODY = {
  type: "object",
  properties: {
    kind: { enum: ["file", "prompt", "tactic", "gadget", "agent"] },
    name: NAME,
    json: { type: "string" },
    model: { type: "string", maxLength: MAX_NAME },
    effort: { enum: ["", ...EFFORTS] },
    ask: { type: "string", maxLength: 10 },
    say: { type: "string" },
    user: { type: "string", maxLength: MAX_NAME },
  },
  required: ["kind", "name"],
  additionalProperties: { type: "string" },
} as const;

/** Starts what a form of a page says. */
export const startRoute: Route = defineRoute(
  "POST",
  "/start",
  "Starts what a form of the page says, and leads to the page of its run",
  {
    body: BODY,
    responses: {
      200: {
        description: "For whoever accepts JSON: where the run is shown",
        schema: objectOf({ url: { type: "string" } }, ["url"]),
      },
      303: { description: "To the page of the run" },
    },
    accepts: "form",
    async handle({ service, settings, request, body }) {
      const wantsJson = (request.headers.get("accept") ?? "").includes("application/json");
      try {
        const url = await started(service, readFields(body));
        return wantsJson ? json({ url }) : seeOther(url);
      } catch (error) {
        const details = failureOf(error, { root: service.root, tell: settings.tell });
        return wantsJson ? problem(details) : problemPage(details, request.headers);
      }
    },
  },
);

interface Fields {
  readonly kind: "file" | "prompt" | "tactic" | "gadget" | "agent";
  readonly name: string;
  readonly json: string;
  readonly say?: string;
  readonly user?: string;
  readonly wishes: Pick<RunWishes, "model" | "effort"> & { readonly canAsk: boolean };
  /** By pointer. */
  readonly texts: Readonly<Record<string, string>>;
}

/** What is empty is not given. */
function readFields(body: Readonly<Record<string, string>> & Pick<Fields, "kind" | "name">): Fields {
  const texts = Object.entries(body).flatMap(([name, text]) =>
    name.startsWith(FIELD_PREFIX) ? [[name.slice(FIELD_PREFIX.length), text] as const] : []
  );
  const { kind, name, json = "", say = "", user = "", model = "", effort, ask = "" } = body;
  return {
    kind,
    name,
    json: json.trim(),
    say: say.trim() === "" ? undefined : say.replaceAll("\r\n", "\n"),
    user: user.trim() || undefined,
    wishes: { canAsk: ask !== "", model: model.trim() || undefined, effort: effortFrom(effort) },
    texts: Object.fromEntries(texts),
  };
}

/** Starts it; gives where it is shown. */
async function started(service: Service, fields: Fields): Promise<string> {
  const { look, talks } = service;
  const { kind, name, user, say, wishes } = fields;
  if (kind === "agent") {
    const agent = insidePath(name);
    await look.agent(agent); // a name that is none is told as such, before anything begins
    const slots = await inputOf(undefined, fields);
    const { talk } = await talks.begin({
      agent,
      ...wishes,
      ...(Object.keys(slots).length > 0 && { slots }),
      user,
      message: say,
    });
    return `/conversations/${encodeURIComponent(talk.id)}`;
  }
  const { id } = await service.start({ ...await requestOf(look, { ...fields, kind }), ...wishes });
  return `/runs/${encodeURIComponent(id)}`;
}

async function requestOf(
  look: Look,
  { kind, name, say, ...fields }: Fields & { readonly kind: Exclude<Fields["kind"], "agent"> },
): Promise<StartRun> {
  switch (kind) {
    case "gadget":
      return { kind, name, input: await inputOf((await look.gadget(name)).input, fields) };
    case "prompt":
    case "tactic": {
      const schema = kind === "prompt" ? (await look.prompt(name)).input : undefined;
      return { kind: "prompt", path: name, input: await inputOf(schema, fields), say };
    }
    case "file": {
      const file = insidePath(name);
      if (!/\.md$/i.test(file)) return { kind, file };
      return { kind, file, input: await inputOf((await look.document(file)).input, fields), prompt: say };
    }
    default:
      return kind satisfies never;
  }
}

/** @throws {HttpProblem} 400 `invalid`, with each field and what is wrong with it */
async function inputOf(
  schema: JsonObject = { type: "object" },
  { json, texts }: Pick<Fields, "json" | "texts">,
): Promise<JsonObject> {
  const filled = json === "" ? await filledForm(schema, texts) : await filledJson(schema, json);
  if ("value" in filled) return filled.value;
  const { problems } = filled;
  throw invalid(
    problems.map(({ pointer, message }) => pointer === "" ? message : `${pointer.slice(1)}: ${message}`)
      .join("\n"),
    { fields: problems },
  );
}
