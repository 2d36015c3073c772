// A page is a route whose answer is HTML. What keeps it from being made is a page too.

import { html } from "../answers.ts";
import type { AnswerOptions } from "../answers.ts";
import { openAssets } from "../assets.ts";
import type { JsonSchema } from "../../core/gadget.ts";
import { basename } from "node:path";
import type { FromJsonSchema } from "../../schema/input_type.ts";
import { defineRoute } from "../route.ts";
import type { Nothing, Route, RouteContext } from "../route.ts";
import { chosenTheme } from "./chosen_theme.ts";
import { Layout } from "./layout.tsx";
import type { PageFrame, PageParts } from "./layout.tsx";
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
    access: "token",
    tellProblem: problemPage,
    handle: async (context) => await answerPage(context, await page(context)),
  });
}

/** A page with all that is around it. */
export async function answerPage(
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
