// A service behind a socket. HTTP and runs share one thread: a second one for HTTP alone took a quarter more requests on two cores, for a
// second copy of each request, of each stream and of the code. Whoever needs more runs a second sends one file with many calls.
import { type Context, Hono } from "hono";
import { type JsonSchema, systemClock } from "../core/core.ts";
import { serveHttp } from "../host/http/serve.ts";
import { undecided } from "../schema/text_value.ts";
import { issuesText, validateInput } from "../schema/validate.ts";
import type { Service } from "../service/service.ts";
import { problem, SAFE_HEADERS } from "./answers.ts";
import { readForm, readJson, readPieces } from "./body.ts";
import {
  type Caller,
  createHosts,
  createRules,
  guard,
  type GuardSettings,
  isAllowed,
  type RouteRule,
} from "./guard.ts";
import { problemPage } from "./pages/problem_page.tsx";
import { failureOf, HttpProblem, type ProblemDetails } from "./problem.ts";
import {
  honoPath,
  type Method,
  pathPattern,
  type Route,
  type ServerSettings,
  type TellProblem,
} from "./route.ts";
import { ROUTES } from "./route_table.ts";
import { Sessions } from "./session.ts";
import { TextStreams } from "./text_streams.ts";

/** How a service is served. */
export interface OpenServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Further names that a Host may have. */
  readonly names?: readonly string[];
  /** Absent: nobody needs one. */
  readonly token?: string;
  readonly tell: (text: string) => void;
}

/** A server that listens. */
export interface OpenServer extends AsyncDisposable {
  /** `http://127.0.0.1:7337` */
  readonly origin: string;
  /** A link to the page that works once; the page itself where nobody needs a token. */
  link(): string;
  /** Nothing new begins; what is under way gets so long for the step it is in; then everything that is read ends. The service stays open. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** How long answers that are under way may take when all runs have ended, ms. */
const LAST_ANSWERS_MS = 2_000;

/** Serves it. @throws {Error} when it cannot listen there */
export function openServer(service: Service, options: OpenServerOptions): OpenServer {
  const { host = "127.0.0.1", names, token, tell } = options;
  const streams = new TextStreams();
  const http = serveHttp({ host, port: options.port, fetch: (request) => app(request) });
  const { port } = http;
  const stopping = new AbortController();
  const lastWorks = new Set<() => void | Promise<void>>();
  const settings: ServerSettings = {
    origin: `http://${addressOf(host)}:${port}`,
    token,
    cookie: `orrery_${port}`,
    sessions: new Sessions(systemClock, { key: token }),
    streams,
    clock: systemClock,
    stopping: stopping.signal,
    atStop: (work) => void lastWorks.add(work),
    tell,
  };
  // Nothing is accepted before this turn of the event loop is over.
  const app = createApp({
    service,
    settings,
    isHost: createHosts({ host, port, names }),
  });
  let stopped: Promise<void> | undefined;
  const stop = async ({ graceMs }: { readonly graceMs: number }): Promise<void> => {
    await service.stop({ graceMs });
    stopping.abort();
    streams.close();
    await Promise.allSettled([...lastWorks].map(async (work) => await work()));
    await http.close({ graceMs: LAST_ANSWERS_MS });
  };
  const server: OpenServer = {
    origin: settings.origin,
    link: () => token === undefined ? settings.origin : `${settings.origin}/link/${settings.sessions.link()}`,
    stop: (how) => stopped ??= stop(how),
    [Symbol.asyncDispose]: () => server.stop({ graceMs: 0 }),
  };
  return server;
}

/** As a URL has it: somewhere that a browser can go to. */
function addressOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

// The only place that says Hono. Every route of the table comes in through one function, which asks again what the guard has asked: a
// request that did not pass the guard has no caller, and no route answers it.

/** What an app is made of. */
interface AppOptions {
  readonly service: Service;
  readonly settings: ServerSettings;
  readonly isHost: (host: string) => boolean;
}

/** Answers every request, and never fails. */
type Answers = (request: Request) => Promise<Response>;

/** What the guard hands on. */
interface Passed {
  readonly Bindings: { readonly caller?: Caller; readonly isHead?: boolean };
}

/** Makes the app of the table of routes; it has no socket yet. */
function createApp({ service, settings, isHost }: AppOptions): Answers {
  const hono = new Hono<Passed>();
  const tell = (error: unknown) => failureOf(error, { root: service.root, tell: settings.tell });
  for (const route of ROUTES) {
    hono.on(
      route.method,
      honoPath(route.path),
      (context) => answer(route, context, { service, settings, tell }),
    );
  }
  hono.notFound(({ req }) => {
    const told = isLookedAt(req.raw) ? problemPage : problem;
    return told(nothingAt(req.raw.method, pathOf(req.url)), req.raw.headers);
  });
  hono.onError((error) => problem(tell(error)));
  const rules: GuardSettings = {
    isHost,
    token: settings.token,
    cookie: settings.cookie,
    isSession: (id) => settings.sessions.has(id),
    ruleOf: createRules(ROUTES),
  };
  return guarded(hono, rules, tell);
}

/** In front of everything: what it does not let through reaches no route. */
function guarded(
  hono: Hono<Passed>,
  settings: GuardSettings,
  tell: (error: unknown) => ProblemDetails,
): Answers {
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
  return new HttpProblem(503, "stopping", "the server is about to end: start it again");
}

/** It cannot happen while the guard stands in front. */
function unguarded(): HttpProblem {
  return new HttpProblem(401, "token", "expected Authorization: Bearer TOKEN");
}

const NOTHING = { type: "object", properties: {}, additionalProperties: false } as const;

/** As it stands in the request line. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", "http://".length)).replace(/[?#].*$/, "");
}

/** No route has this path, or none with this method. */
function nothingAt(method: string, path: string): ProblemDetails {
  const methods = METHODS.filter((each) =>
    ROUTES.some((route) => route.method === each && pathPattern(route.path).test(path))
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

// What comes in, checked by the schemas of its route: the same ones that the OpenAPI document has.

/** Values that come as text, typed and checked. @throws {HttpProblem} 400 `invalid` */
async function checkedTexts(
  schema: JsonSchema,
  texts: Readonly<Record<string, string>>,
  what: string,
): Promise<unknown> {
  const tree = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, undecided(text)]));
  return await checked(schema, tree, what);
}

/** What fits its schema. @throws {HttpProblem} 400 `invalid` */
async function checked(schema: JsonSchema, tree: unknown, what: string): Promise<unknown> {
  const result = await validateInput(schema, tree);
  if (result.ok) return result.value;
  throw new HttpProblem(400, "invalid", `${what} is not as expected: ${issuesText(result.issues)}`, {
    more: {
      issues: result.issues.map(({ pointer, message }) => ({ pointer: pointer && `/${pointer}`, message })),
    },
  });
}

/** The query of a URL. @throws {HttpProblem} 400 `invalid` for a name that is there twice */
function queryOf(url: string): Readonly<Record<string, string>> {
  const at = url.indexOf("?");
  if (at < 0) return {};
  const entries = [...new URLSearchParams(url.slice(at).replace(/#.*$/, ""))];
  const texts = Object.fromEntries(entries);
  const names = Object.keys(texts);
  if (names.length === entries.length && !names.includes("__proto__")) return texts;
  throw new HttpProblem(400, "invalid", "the query names something twice, expected each name once");
}
