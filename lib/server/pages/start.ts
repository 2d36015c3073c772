// What the forms of the pages are posted to: it works without a script, and says with one what is wrong with which field.
import { type JsonObject, objectOf } from "../../core/core.ts";
import type { Look } from "../../service/look/look.ts";
import type { Service, StartRun } from "../../service/service.ts";
import { json, problem, seeOther } from "../answers.ts";
import { filledForm, filledJson } from "./form_fields.ts";
import { insidePath } from "../guard.ts";
import { failureOf, HttpProblem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { MAX_NAME, NAME } from "../api/schemas.ts";
import { problemPage } from "./problem_page.tsx";
import { FIELD_PREFIX } from "./schema_form.tsx";

const BODY = {
  type: "object",
  properties: {
    kind: { enum: ["file", "prompt", "tactic", "gadget", "agent"] },
    name: NAME,
    json: { type: "string" },
    model: { type: "string", maxLength: MAX_NAME },
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
  readonly say: string;
  readonly user: string;
  readonly model: string;
  readonly canAsk: boolean;
  /** By pointer. */
  readonly texts: Readonly<Record<string, string>>;
}

type Body = Readonly<Record<string, string>> & Pick<Fields, "kind" | "name">;

function readFields(body: Body): Fields {
  const texts = Object.entries(body).flatMap(([name, text]) =>
    name.startsWith(FIELD_PREFIX) ? [[name.slice(FIELD_PREFIX.length), text] as const] : []
  );
  const { kind, name, json = "", say = "", user = "", model = "", ask = "" } = body;
  return {
    kind,
    name,
    json: json.trim(),
    say: say.replaceAll("\r\n", "\n"),
    user: user.trim(),
    model: model.trim(),
    canAsk: ask !== "",
    texts: Object.fromEntries(texts),
  };
}

/** Where it is shown. */
async function started(service: Service, fields: Fields): Promise<string> {
  if (fields.kind === "agent") return await begun(service, fields);
  const { id } = await service.start(await requestOf(service.look, { ...fields, kind: fields.kind }));
  return `/runs/${encodeURIComponent(id)}`;
}

async function begun({ talks, look }: Service, fields: Fields): Promise<string> {
  const { name, say, user } = fields;
  const agent = insidePath(name);
  await look.agent(agent); // a name that is none is told as such, before anything begins
  const slots = await inputOf(undefined, fields);
  const { talk } = await talks.begin({
    agent,
    ...wishes(fields),
    ...(Object.keys(slots).length === 0 ? {} : { slots }),
    ...(user === "" ? {} : { user }),
    ...(say.trim() === "" ? {} : { message: say }),
  });
  return `/conversations/${encodeURIComponent(talk.id)}`;
}

async function requestOf(
  look: Look,
  fields: Fields & { readonly kind: Exclude<Fields["kind"], "agent"> },
): Promise<StartRun> {
  const { kind, name, say } = fields;
  const said = say.trim() === "" ? undefined : say;
  switch (kind) {
    case "gadget": {
      const { input } = await look.gadget(name);
      return { kind, name, input: await inputOf(input, fields), ...wishes(fields) };
    }
    case "prompt":
    case "tactic": {
      const schema = kind === "prompt" ? (await look.prompt(name)).input : undefined;
      const input = await inputOf(schema, fields);
      return {
        kind: "prompt",
        path: name,
        input,
        say: said,
        ...wishes(fields),
      };
    }
    case "file": {
      const file = insidePath(name);
      if (!/\.md$/i.test(file)) return { kind, file, ...wishes(fields) };
      const { input: schema } = await look.document(file);
      const input = await inputOf(schema, fields);
      return { kind, file, input, prompt: said, ...wishes(fields) };
    }
    default:
      return kind satisfies never;
  }
}

function wishes({ model, canAsk }: Fields): { readonly canAsk: boolean; readonly model?: string } {
  return { canAsk, ...(model === "" ? {} : { model }) };
}

const ANY: JsonObject = { type: "object" };

/** @throws {HttpProblem} 400 `invalid`, with each field and what is wrong with it */
async function inputOf(schema: JsonObject | undefined, { json, texts }: Fields): Promise<JsonObject> {
  const filled = json === "" ? await filledForm(schema ?? ANY, texts) : await filledJson(schema ?? ANY, json);
  if ("value" in filled) return filled.value;
  const { problems } = filled;
  throw new HttpProblem(
    400,
    "invalid",
    problems.map(({ pointer, message }) => pointer === "" ? message : `${pointer.slice(1)}: ${message}`)
      .join("\n"),
    { more: { fields: problems.map(({ pointer, message }) => ({ pointer, message })) } },
  );
}
