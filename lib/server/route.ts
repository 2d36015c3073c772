// A route is data: one table of them says what is where, what comes in, and makes the OpenAPI document. What a route answers
// with is in answers.ts (json, html, text, empty, seeOther), problem.ts (HttpProblem, to be thrown) and run_answers.ts (runEvents).
import type { Clock, JsonSchema } from "../core/core.ts";
import type { FromJsonSchema } from "../schema/input_type.ts";
import type { Service } from "../service/service.ts";
import type { Caller } from "./guard.ts";
import type { ProblemDetails } from "./problem.ts";
import type { Sessions } from "./session.ts";
import type { TextStreams } from "./text_streams.ts";

/** The methods there are; HEAD is GET without its body. */
export type Method = "GET" | "POST" | "DELETE";

/** Who may ask: who has the token or the cookie of the page, who has the token itself, or anybody whose Host and Origin are right. */
export type Access = "token" | "bearer" | "open";

/** What a body is: JSON of the schema, fields of a form (all of them text) of the schema, or a text that may come piece by piece. */
export type Accepts = "json" | "form" | "calls";

/** How a problem is told. @param headers of the request: a page looks as its reader has chosen */
export type TellProblem = (problem: ProblemDetails, headers: Pick<Headers, "get">) => Response;

/** What a handler gets. */
export interface RouteContext<Params = unknown, Query = unknown, Body = unknown> {
  readonly service: Service;
  readonly settings: ServerSettings;
  readonly request: Request;
  /** Decoded, and checked by their schemas, as are the next two. */
  readonly params: Params;
  readonly query: Query;
  /** An empty object where there is no body. */
  readonly body: Body;
  readonly caller: Caller;
  /** Only the head of the answer is asked for (`HEAD`): nothing may change that a GET would. */
  readonly isHead: boolean;
  /**
   * The body of a route that accepts `calls`, as it comes.
   *
   * @param gone aborted when whoever sends it has gone, as far as the answer tells
   * @throws {HttpProblem} when it is too slow, breaks off or is no UTF-8
   */
  readonly text: (gone?: AbortSignal) => AsyncIterable<string>;
}

/** What an answer is, for the OpenAPI document. */
export interface RouteAnswer {
  readonly description: string;
  /** Default `application/json` where there is a schema. */
  readonly type?: string;
  readonly schema?: JsonSchema;
  /** Whether it is the stream of events where that was asked for. */
  readonly orEvents?: boolean;
}

/** A route whose types are known nowhere but in its own module. */
export interface Route {
  readonly method: Method;
  /** `{name}` is one part, `{name+}` one or more with their `/`: the last thing of a path, or before a fixed end. */
  readonly path: string;
  readonly summary: string;
  /** Whole sentences, where the summary leaves something open. */
  readonly description?: string;
  /** Objects whose properties are text, numbers or flags. */
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  readonly body?: JsonSchema;
  /** By status. */
  readonly responses: Readonly<Record<number, RouteAnswer>>;
  /** The codes of the problems it may answer with, by status, besides those that every route has. */
  readonly problems?: Readonly<Record<number, readonly string[]>>;
  readonly access: Access;
  /** Default `json`. */
  readonly accepts?: Accepts;
  /** Of a body of JSON. Default 10 MiB. */
  readonly maxBytes?: number;
  /** How it tells problems, those that come before it included. Default: `application/problem+json`. */
  readonly tellProblem?: TellProblem;
  // A method, so that a handler may take the narrower types that its own schemas have checked.
  handle(context: RouteContext): Response | Promise<Response>;
}

/** A route while it is being defined: what its handler gets is typed by its schemas. */
export interface RouteDefinition<Params, Query, Body>
  extends Omit<Route, "method" | "path" | "summary" | "params" | "query" | "body" | "access" | "handle"> {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Default `token`. */
  readonly access?: Access;
  handle(
    context: RouteContext<FromJsonSchema<Params>, FromJsonSchema<Query>, FromJsonSchema<Body>>,
  ): Response | Promise<Response>;
}

/** What a route without a schema takes. */
export type Nothing = { readonly type: "object"; readonly properties: Readonly<Record<never, never>> };

/**
 * Defines a route.
 *
 *     defineRoute("GET", "/v1/runs/{id}", "One run", {
 *       params: objectOf({ id: { type: "string" } }, ["id"]),
 *       responses: { 200: { description: "The run", schema: RUN_STATE } },
 *       handle: async ({ service, params }) => json(await service.run(params.id)),
 *     });
 */
export function defineRoute<
  const Params extends JsonSchema = Nothing,
  const Query extends JsonSchema = Nothing,
  const Body extends JsonSchema = Nothing,
>(
  method: Method,
  path: string,
  summary: string,
  route: RouteDefinition<Params, Query, Body>,
): Route {
  return { method, path, summary, access: "token", ...route };
}

// The path of a route, as its table writes it: `{name}` is one part, `{name+}` one or more.

const PART = /\{(\w+)(\+?)\}/g;

/** As OpenAPI writes it. */
export function openapiPath(path: string): string {
  return path.replaceAll(PART, "{$1}");
}

/** Which paths of requests are meant, with a group for each part that has a name. */
export function pathPattern(path: string): RegExp {
  const source = path.replaceAll(/[.*?^$()|[\]\\]/g, "\\$&").replaceAll(
    PART,
    (_whole, name: string, many: string) => `(?<${name}>${many === "" ? "[^/]" : "."}+)`,
  );
  return new RegExp(`^${source}$`);
}

/** The names in it. */
export function pathNames(path: string): readonly string[] {
  return [...path.matchAll(PART)].map(([, name = ""]) => name);
}

/** What the routes have in common, besides the service. */
export interface ServerSettings {
  /** `http://127.0.0.1:7337`: as the server is bound, for links that are printed. */
  readonly origin: string;
  /** Absent: nobody needs one. */
  readonly token?: string;
  /** The name of the cookie of the page. */
  readonly cookie: string;
  readonly sessions: Sessions;
  /** Every answer that goes on: SSE and the like. */
  readonly streams: TextStreams;
  readonly clock: Clock;
  /** Aborted when the server is about to end: who waits, waits no more. */
  readonly stopping: AbortSignal;
  /** Something that has to be ended with the server, when all runs have ended: sessions of one's own. */
  readonly atStop: (work: () => void | Promise<void>) => void;
  /** Tells the person at the terminal; a line or more. */
  readonly tell: (text: string) => void;
}
