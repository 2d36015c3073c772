import { MAX_NAME } from "../schemas.ts";

/** The path of a page about one thing: a name, or a path of files. */
export const PATH_PARAMS = {
  type: "object",
  properties: { path: { type: "string", minLength: 1, maxLength: MAX_NAME } },
  required: ["path"],
} as const;

/** What is searched on a list. */
export const SEARCH_QUERY = {
  type: "object",
  properties: { q: { type: "string", maxLength: 200 } },
  additionalProperties: false,
} as const;
