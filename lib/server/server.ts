// A service behind a socket. HTTP and runs share one thread: a second one for HTTP alone took a quarter more requests on two cores, for a
// second copy of each request, of each stream and of the code. Whoever needs more runs a second sends one file with many calls.
import { type JsonSchema, systemClock } from "../core/core.ts";
import { serveHttp } from "../host/http/serve.ts";
import { undecided } from "../schema/text_value.ts";
import { issuesText, validateInput } from "../schema/validate.ts";
import type { Service } from "../service/service.ts";
import { problem, SAFE_HEADERS, seeOther } from "./answers.ts";
import { readForm, readJson, readPieces } from "./body.ts";
import { createHosts, guard } from "./guard.ts";
import { problemPage } from "./pages/layout.tsx";
import { failureOf, HttpProblem, invalid, type ProblemDetails } from "./problem.ts";
import {
  type Method,
  pathPattern,
  type Route,
  type RouteContext,
  type ServerSettings,
  type TellProblem,
} from "./route.ts";
import { createRoutes } from "./route_table.ts";
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

/** What an app is made of. */
interface AppOptions {
  readonly service: Service;
  readonly settings: ServerSettings;
  readonly isHost: (host: string) => boolean;
}

/** Answers every request, and never fails. */
type Answers = (request: Request) => Promise<Response>;

/** A route that was found, with the parts of the path that have names. */
interface FoundRoute extends Route {
  readonly parts: Readonly<Record<string, string>>;
}

/** Makes the app of the table of routes; it has no socket yet. */
function createApp({ service, settings, isHost }: AppOptions): Answers {
  const routes = createRoutes().map((route) => ({ route, pattern: pathPattern(route.path) }));
  const tell = (error: unknown) => failureOf(error, { root: service.root, tell: settings.tell });
  /** The guard asks here too, so that what it goes by is what answers. */
  const find = (method: string, path: string): FoundRoute | undefined => {
    const asked = method === "HEAD" ? "GET" : method;
    const text = decodeURI(path.replaceAll("%25", "%2525")); // a part is decoded whole when it was found
    for (const { route, pattern } of routes) {
      const match = route.method === asked && pattern.exec(text);
      if (!match) continue;
      const isOpen = route.access === "open" && pattern.test(path); // under its own name alone
      return {
        ...route,
        access: isOpen || route.access === "bearer" ? route.access : "token",
        parts: { ...match.groups },
      };
    }
    return undefined;
  };
  const rules = {
    isHost,
    token: settings.token,
    cookie: settings.cookie,
    isSession: (id: string) => settings.sessions.has(id),
    ruleOf: find,
  };
  const answered = async (request: Request): Promise<Response> => {
    const verdict = guard(request, rules);
    const { rule } = verdict;
    if ("refusal" in verdict) return refusal(verdict.refusal, rule?.tellProblem, request);
    const { caller, rule: route } = verdict;
    if (route !== undefined) {
      return await answer(route, { request, caller, service: asking(request, service), settings, tell });
    }
    const told = isLookedAt(request) ? problemPage : problem;
    return told(nothingAt(request, find), request.headers);
  };
  return async (request) => {
    let response: Response;
    try {
      response = await answered(request);
    } catch (error) {
      response = problem(tell(error));
    }
    if (request.method === "HEAD") {
      await response.body?.cancel(); // one that goes on is left at once
      response = new Response(null, response);
    }
    // Every answer has them, that of a library and of the guard too.
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.headers.set(name, value);
    return response;
  };
}

/** What a request begins is a part of the span that it names. */
function asking({ headers }: Request, service: Service): Service {
  const traceparent = headers.get("traceparent");
  if (traceparent === null) return service;
  const start: Service["start"] = (wish) => service.start({ ...wish, traceparent });
  return Object.setPrototypeOf({ start }, service); // all else of it as it is, also what changes
}

/** Somebody who looks with a browser is shown where to come in. */
function refusal(details: ProblemDetails, tellProblem: TellProblem = problem, request: Request): Response {
  if (details.status !== 401 || !isLookedAt(request)) return tellProblem(details, request.headers);
  const at = targetOf(request); // back to the page that was wanted, where there is one
  return seeOther(tellProblem === problem || at === "/" ? "/login" : `/login?to=${encodeURIComponent(at)}`);
}

/** A browser shows it to somebody. */
function isLookedAt({ method, headers }: Request): boolean {
  return method === "GET" && (headers.get("accept") ?? "").includes("text/html");
}

/** As it stands in the request line. */
function targetOf({ url }: Request): string {
  return url.slice(url.indexOf("/", "http://".length));
}

interface Means extends Pick<RouteContext, "request" | "caller" | "service" | "settings"> {
  readonly tell: (error: unknown) => ProblemDetails;
}

async function answer(route: FoundRoute, { tell, ...means }: Means): Promise<Response> {
  const { request, settings } = means;
  try {
    if (settings.stopping.aborted) {
      throw new HttpProblem(503, "stopping", "the server is about to end: start it again");
    }
    const { method, accepts = "json", maxBytes, params = NOTHING, query = NOTHING, body = NOTHING } = route;
    const parts = Object.entries(route.parts).map(([name, part]) => [name, decodeURIComponent(part)]);
    return await route.handle({
      ...means,
      isHead: request.method === "HEAD",
      params: params === NOTHING ? {} : await checkedTexts(params, Object.fromEntries(parts), "the path"),
      query: query === NOTHING && !request.url.includes("?")
        ? {}
        : await checkedTexts(query, queryOf(request.url), "the query"),
      body: method === "GET" || accepts === "calls" ? {} : await checked(
        body,
        await (accepts === "form" ? readForm(request, body) : readJson(request, maxBytes)),
        "the body",
      ),
      text: (gone) => readPieces(request, gone),
    });
  } catch (error) {
    return (route.tellProblem ?? problem)(tell(error), request.headers);
  }
}

const NOTHING = { type: "object", properties: {}, additionalProperties: false } as const;

/** No route has this path, or none with this method. */
function nothingAt(
  request: Request,
  find: (method: Method, path: string) => Route | undefined,
): ProblemDetails {
  const path = targetOf(request).replace(/[?#].*$/, "");
  const methods = METHODS.filter((each) => find(each, path) !== undefined);
  if (methods.length === 0) {
    return {
      status: 404,
      code: "not-found",
      detail: "there is nothing at this path; /openapi.json has all there are",
    };
  }
  return {
    status: 405,
    code: "method",
    detail: `found ${request.method}, expected ${methods.join(" or ")} at this path`,
    headers: { allow: methods.join(", ") },
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
  throw invalid(`${what} is not as expected: ${issuesText(result.issues)}`, {
    issues: result.issues.map(({ pointer, message }) => ({ pointer: pointer && `/${pointer}`, message })),
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
  throw invalid("the query names something twice, expected each name once");
}
