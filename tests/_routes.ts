// All routes of a server, as its OpenAPI document has them.

import type { Served } from "./_served_project.ts";

/** What bodies a route takes. */
export type Accepts = "json" | "form" | "calls";

/** Plain JSON. */
export type Schema = Readonly<Record<string, unknown>>;

/** A route. */
export interface KnownRoute {
  /** `GET` */
  readonly method: string;
  /** `/v1/runs/{id}` */
  readonly path: string;
  readonly accepts: Accepts;
  /** Whether nobody needs a token. */
  readonly isOpen: boolean;
  readonly params: Schema;
  readonly query: Schema;
  /** Of its body; absent: it takes none, or a text. */
  readonly body: Schema | undefined;
  readonly operation: Operation;
}

/** As the document says it. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query";
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

/** An answer, as the document says it. */
export interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** The document. */
export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Its type of content. */
export const TYPES: Readonly<Record<Accepts, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  calls: "text/plain",
};

/** The document of a server. */
export async function openApiOf(server: Served): Promise<OpenApi> {
  return await (await server.ask("/openapi.json")).json();
}

/** Every route of it. */
export async function routesOf(server: Served): Promise<readonly KnownRoute[]> {
  const { paths } = await openApiOf(server);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): KnownRoute => {
      const content = operation.requestBody?.content ?? {};
      const accepts = TYPES.form in content ? "form" : TYPES.calls in content ? "calls" : "json";
      return {
        method: method.toUpperCase(),
        path,
        accepts,
        isOpen: operation.security.length === 0,
        params: parameters(operation, "path"),
        query: parameters(operation, "query"),
        body: accepts === "calls" ? undefined : content[TYPES[accepts]]?.schema,
        operation,
      };
    })
  );
}

function parameters({ parameters = [] }: Operation, place: "path" | "query"): Schema {
  const all = parameters.filter((each) => each.in === place);
  return {
    type: "object",
    properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
    required: all.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}
