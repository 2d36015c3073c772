import { CATALOG_PARTS } from "../../service/look/look.ts";
import { json } from "../answers.ts";
import { defineRoute } from "../route.ts";
import { invalid } from "../run_answers.ts";
import { insidePath } from "../inside_path.ts";
import { MAX_NAME, SCHEMAS } from "../schemas.ts";

const LIST = { type: "array", items: { type: "object" } } as const;
const PROBLEMS = { type: "array", items: SCHEMAS.FileProblem } as const;

/** What is in the project, and what is wrong with it. */
export const catalogRoutes = [
  defineRoute({
    method: "GET",
    path: "/v1/catalog",
    summary: "Everything that can be run, with schemas",
    responses: {
      200: {
        description: "The catalogue",
        schema: {
          type: "object",
          properties: {
            ...Object.fromEntries(CATALOG_PARTS.map((part) => [part, LIST])),
            problems: PROBLEMS,
          },
          required: CATALOG_PARTS,
        },
      },
    },
    access: "token",
    handle: async ({ service }) => json(await service.look.catalog()),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/check",
    summary: "What is wrong with files of the project, or with a posted text; nothing runs",
    request: {
      body: {
        type: "object",
        properties: {
          files: {
            type: "array",
            maxItems: 1_000,
            items: { type: "string", minLength: 1, maxLength: MAX_NAME },
            description: "Relative to the project root; without it, and without text, all of the project",
          },
          name: {
            type: "string",
            minLength: 1,
            maxLength: MAX_NAME,
            description: "Of the text: its ending says what it is",
          },
          text: { type: "string", description: "What is checked in place of files" },
        },
        additionalProperties: false,
      },
    },
    responses: {
      200: {
        description: "What was found",
        schema: { type: "object", properties: { problems: PROBLEMS }, required: ["problems"] },
      },
    },
    problems: { 403: ["outside"], 404: ["not-found"] },
    access: "token",
    async handle({ service, body: { files, name, text } }) {
      if (text === undefined) {
        if (name !== undefined) throw invalid("found name without text, expected both or none");
        files?.forEach(insidePath);
        return json({ problems: await service.look.check(files === undefined ? {} : { files }) });
      }
      if (files !== undefined) throw invalid("found files and text, expected one of them");
      if (name === undefined) throw invalid("found text without name, expected name too, such as a.calls");
      return json({ problems: await service.look.check({ text: { name: insidePath(name), text } }) });
    },
  }),
];
