// A page is a route whose answer is HTML. What keeps it from being made is a page too.
import { type JsonSchema, objectOf, onlyFields } from "../../core/core.ts";
import { basename } from "node:path";
import type { FromJsonSchema } from "../../schema/input_type.ts";
import { type AnswerOptions, html } from "../answers.ts";
import { openAssets } from "./assets.ts";
import { defineRoute, type Nothing, type Route, type RouteContext } from "../route.ts";
import { MAX_NAME } from "../api/schemas.ts";
import { chosenTheme, Layout, type PageFrame, type PageParts } from "./layout.tsx";
import { problemPage } from "./problem_page.tsx";

/** A page while it is being defined. */
export interface PageDefinition<Params, Query> {
  readonly path: string;
  readonly summary: string;
  readonly request?: { readonly params?: Params; readonly query?: Query };
  page(
    context: RouteContext<FromJsonSchema<Params>, FromJsonSchema<Query>>,
  ): PageParts | Promise<PageParts>;
}

/** Defines a page: `GET`, for whoever is let in. */
export function definePage<
  const Params extends JsonSchema = Nothing,
  const Query extends JsonSchema = Nothing,
>({ path, summary, request, page }: PageDefinition<Params, Query>): Route {
  return defineRoute<Params, Query>({
    method: "GET",
    path,
    summary,
    request,
    responses: { 200: { description: "The page", type: "text/html; charset=utf-8" } },
    tellProblem: problemPage,
    handle: async (context) => await answerPage(context, await page(context)),
  });
}

/** A page with all that is around it. */
async function answerPage(
  context: Pick<RouteContext, "service" | "request">,
  parts: PageParts,
  options?: AnswerOptions,
): Promise<Response> {
  return await html(<Layout frame={await frameOf(context)} {...parts} />, options);
}

async function frameOf(
  { service, request }: Pick<RouteContext, "service" | "request">,
): Promise<PageFrame> {
  return {
    assets: (await openAssets()).base,
    project: basename(service.root),
    version: service.version,
    theme: chosenTheme(request.headers),
    waiting: service.now.waiting,
    active: service.active,
  };
}

/** The path of a page about one thing: a name, or a path of files. */
export const PATH_PARAMS = objectOf({ path: { type: "string", minLength: 1, maxLength: MAX_NAME } }, [
  "path",
]);

/** What is searched on a list. */
export const SEARCH_QUERY = onlyFields({ q: { type: "string", maxLength: 200 } });
