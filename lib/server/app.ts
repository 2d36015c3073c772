// The only place that says Hono. Every route of the table comes in through one function, which asks again what the guard has asked: a
// request that did not pass the guard has no caller, and no route answers it.

import { Hono } from "hono";
import type { Context } from "hono";
import type { Service } from "../service/service.ts";
import { problem, SAFE_HEADERS } from "./answers.ts";
import { readForm, readJson, readPieces } from "./body.ts";
import { failureOf } from "./failure.ts";
import { createRules, guard, isAllowed } from "./guard.ts";
import type { Caller, GuardSettings, RouteRule } from "./guard.ts";
import { problemPage } from "./pages/problem_page.tsx";
import { HttpProblem } from "./problem.ts";
import type { ProblemDetails } from "./problem.ts";
import { checked, checkedTexts, queryOf } from "./request_input.ts";
import { honoPath, pathPattern } from "./route_path.ts";
import type { Method, Route, TellProblem } from "./route.ts";
import type { ServerSettings } from "./server_settings.ts";

/** What an app is made of. */
export interface AppOptions {
  readonly service: Service;
  readonly settings: ServerSettings;
  readonly routes: readonly Route[];
  readonly isHost: (host: string) => boolean;
}

/** A server that has no socket yet. */
export interface App {
  /** Answers every request, and never fails. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** What Hono has been told: method and path, as it writes them. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** What the guard hands on. */
interface Passed {
  readonly Bindings: { readonly caller?: Caller; readonly isHead?: boolean };
}

/** Makes the app of a table of routes. */
export function createApp({ service, settings, routes, isHost }: AppOptions): App {
  const hono = new Hono<Passed>();
  const tell = (error: unknown) => failureOf(error, { root: service.root, tell: settings.tell });
  for (const route of routes) {
    hono.on(
      route.method,
      honoPath(route.path),
      (context) => answer(route, context, { service, settings, tell }),
    );
  }
  hono.notFound(({ req }) => {
    const told = isLookedAt(req.raw) ? problemPage : problem;
    return told(nothingAt(req.raw.method, pathOf(req.url), routes), req.raw.headers);
  });
  hono.onError((error) => problem(tell(error)));
  const rules: GuardSettings = {
    isHost,
    token: settings.token,
    cookie: settings.cookie,
    isSession: (id) => settings.sessions.has(id),
    ruleOf: createRules(routes),
  };
  return { fetch: guarded(hono, rules, tell), routes: hono.routes };
}

/** In front of everything: what it does not let through reaches no route. */
function guarded(
  hono: Hono<Passed>,
  settings: GuardSettings,
  tell: (error: unknown) => ProblemDetails,
): App["fetch"] {
  return async (request) => {
    try {
      const verdict = guard(request, settings);
      if ("refusal" in verdict) return safe(refusal(verdict.refusal, verdict.rule, request));
      const { caller } = verdict;
      if (request.method === "HEAD") return safe(await headOf(hono, request, caller));
      return safe(await hono.fetch(request, { caller }));
    } catch (error) {
      return safe(problem(tell(error)));
    }
  };
}

/** Somebody who looks with a browser is shown where to come in. */
function refusal(details: ProblemDetails, { tellProblem = problem }: RouteRule, request: Request): Response {
  if (details.status !== 401 || !isLookedAt(request)) return tellProblem(details, request.headers);
  return new Response(null, {
    status: 303,
    headers: { location: loginPath(request, tellProblem), "cache-control": "no-store" },
  });
}

/** Back to the page that was wanted, where there is one. */
function loginPath({ url }: Request, tellProblem: TellProblem): string {
  const at = url.slice(url.indexOf("/", "http://".length));
  return tellProblem === problem || at === "/" ? "/login" : `/login?to=${encodeURIComponent(at)}`;
}

/** A browser shows it to somebody. */
function isLookedAt({ method, headers }: Request): boolean {
  return method === "GET" && (headers.get("accept") ?? "").includes("text/html");
}

/** The head of a GET; a body that goes on is left at once. */
async function headOf(hono: Hono<Passed>, request: Request, caller: Caller): Promise<Response> {
  const got = await hono.fetch(new Request(request.url, { headers: request.headers }), {
    caller,
    isHead: true,
  });
  await got.body?.cancel();
  return new Response(null, got);
}

/** Every answer has them, that of a library and of the guard too. */
function safe(response: Response): Response {
  for (const [name, value] of Object.entries(SAFE_HEADERS)) response.headers.set(name, value);
  return response;
}

interface Means {
  readonly service: Service;
  readonly settings: ServerSettings;
  readonly tell: (error: unknown) => ProblemDetails;
}

async function answer(route: Route, context: Context<Passed>, means: Means): Promise<Response> {
  const { raw } = context.req;
  try {
    if (means.settings.stopping.aborted) throw ending();
    const { caller, isHead = false } = context.env;
    if (caller === undefined || !isAllowed(caller, route.access)) throw unguarded();
    const { service, settings } = means;
    const { params = NOTHING, query = NOTHING, body = NOTHING } = route.request ?? {};
    const { method, accepts = "json" } = route;
    return await route.handle({
      service,
      settings,
      request: raw,
      caller,
      isHead,
      params: params === NOTHING ? {} : await checkedTexts(params, context.req.param(), "the path"),
      query: query === NOTHING && !raw.url.includes("?")
        ? {}
        : await checkedTexts(query, queryOf(raw.url), "the query"),
      body: method === "GET" || accepts === "calls" ? {} : await checked(
        body,
        await (accepts === "form" ? readForm : readJson)(raw, body),
        "the body",
      ),
      text: (gone) => readPieces(raw, gone),
    });
  } catch (error) {
    return (route.tellProblem ?? problem)(means.tell(error), raw.headers);
  }
}

/** The service is closed, and there is nothing that could be looked at. */
function ending(): HttpProblem {
  return new HttpProblem(503, "stopping", { detail: "the server is about to end: start it again" });
}

/** It cannot happen while the guard stands in front. */
function unguarded(): HttpProblem {
  return new HttpProblem(401, "token", { detail: "expected Authorization: Bearer TOKEN" });
}

const NOTHING = { type: "object", properties: {}, additionalProperties: false } as const;

/** As it stands in the request line. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", "http://".length)).replace(/[?#].*$/, "");
}

/** No route has this path, or none with this method. */
function nothingAt(method: string, path: string, routes: readonly Route[]): ProblemDetails {
  const methods = METHODS.filter((each) =>
    routes.some((route) => route.method === each && pathPattern(route.path).test(path))
  );
  if (methods.length === 0) {
    return {
      status: 404,
      code: "not-found",
      detail: "there is nothing at this path; /openapi.json has all there are",
    };
  }
  const allow = methods.join(", ");
  return {
    status: 405,
    code: "method",
    detail: `found ${method}, expected ${methods.join(" or ")} at this path`,
    headers: { allow },
  };
}

const METHODS: readonly Method[] = ["GET", "POST", "DELETE"];
