import { isRecord, type JsonSchema } from "../../core/core.ts";
import { json } from "../answers.ts";
import { BODY_TYPES } from "../guard.ts";
import { titleOf } from "../problem.ts";
import { defineRoute, openapiPath, pathNames, type Route, type RouteAnswer } from "../route.ts";
import { SCHEMAS } from "./schemas.ts";

/** The OpenAPI document of all routes, itself among them. @param routes read when it is asked for */
export function openapiRoute(routes: () => readonly Route[]): Route {
  let made: unknown;
  return defineRoute("GET", "/openapi.json", "This document", {
    responses: { 200: { description: "OpenAPI 3.1", schema: { type: "object" } } },
    handle: ({ service: { version } }) => json(made ??= openapiOf(routes(), { version })),
  });
}

// The OpenAPI document (3.1) is made of the table of routes and its schemas, so that it says what is checked.

/** A part of the document: plain JSON. */
type Part = { readonly [key: string]: unknown };

/** Makes the document. */
function openapiOf(routes: readonly Route[], { version }: { readonly version: string }): Part {
  const paths: Record<string, Record<string, Part>> = {};
  for (const route of routes) {
    const path = openapiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Orrery",
      version,
      description:
        "Everything the command line does to files of a project. Errors are application/problem+json (RFC 9457) with a code.",
    },
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, inner(schema)])),
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "The token that orrery serve prints, or was given",
        },
      },
    },
  };
}

function operation(route: Route): Part {
  const { method, path, summary, description, params, query, body, access, accepts = "json" } = route;
  const parameters = [...parametersOf("path", params, pathNames(path)), ...parametersOf("query", query)];
  return {
    operationId: operationId(method, path),
    summary,
    description,
    security: access === "open" ? [] : [{ token: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(method !== "GET" && (body !== undefined || accepts === "calls") && {
      requestBody: {
        required: accepts !== "json" || requiredOf(body).length > 0,
        content: Object.fromEntries(BODY_TYPES[accepts].map((type) => [type, {
          schema: body === undefined ? { type: "string" } : referring(body),
        }])),
      },
    }),
    responses: responsesOf(route),
  };
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return [method.toLowerCase(), ...words.length === 0 ? ["root"] : words].join("_");
}

/** A field of an object's schema. */
interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** The fields of an object's schema. @param names such as are there in any case, and needed */
export function propertiesOf(
  schema: JsonSchema | undefined,
  names: readonly string[] = [],
): readonly Property[] {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  return [...new Set([...names, ...Object.keys(properties)])].map((name) => {
    const field = properties[name];
    const isRequired = names.includes(name) || requiredOf(schema).includes(name);
    return { name, schema: isRecord(field) ? field : { type: "string" }, isRequired };
  });
}

function parametersOf(
  place: "path" | "query",
  schema: JsonSchema | undefined,
  names?: readonly string[],
): readonly Part[] {
  return propertiesOf(schema, names).map(({ name, schema: { description, ...rest }, isRequired }) => ({
    name,
    in: place,
    required: isRequired,
    description,
    schema: referring(rest),
  }));
}

function requiredOf(schema: JsonSchema | undefined): readonly unknown[] {
  return Array.isArray(schema?.required) ? schema.required : [];
}

/** What every route may answer with besides its own: the codes of the guard and of what is wrong with a request. */
const COMMON: Readonly<Record<number, readonly string[]>> = {
  400: ["invalid"],
  401: ["token"],
  403: ["origin"],
  421: ["host"],
};

function responsesOf({ responses, problems = {}, access, method }: Route): Part {
  const answers = Object.entries(responses).map(([status, answer]) => [status, answerOf(answer)] as const);
  const common = Object.entries(COMMON).filter(([status]) => access !== "open" || status !== "401");
  const writing: readonly (readonly [string, readonly string[]])[] = method === "GET"
    ? []
    : [["413", ["too-large"]], ["415", ["content-type"]]];
  const codes = new Map<string, readonly string[]>();
  for (const [status, some] of [...common, ...writing, ...Object.entries(problems)]) {
    codes.set(status, [...codes.get(status) ?? [], ...some]);
  }
  return {
    ...Object.fromEntries([...codes].map(([status, some]) => [status, problemAnswer(Number(status), some)])),
    ...Object.fromEntries(answers),
    default: problemAnswer(500, ["internal"]),
  };
}

/** The media types of an answer. */
export function mediaOf({ type, schema, orEvents = false }: RouteAnswer): readonly string[] {
  const own = type ?? (schema && "application/json");
  return [...own === undefined ? [] : [own], ...orEvents ? ["text/event-stream"] : []];
}

function answerOf(answer: RouteAnswer): Part {
  const { description, schema = { type: "string" } } = answer;
  const [own, events] = mediaOf(answer);
  if (own === undefined) return { description };
  const content = { [own]: { schema: referring(schema) } };
  return {
    description,
    content: events === undefined ? content : { ...content, [events]: { schema: reference("Events") } },
  };
}

function problemAnswer(status: number, codes: readonly string[]): Part {
  return {
    description: `${titleOf(status)}: ${codes.join(", ")}`,
    content: { "application/problem+json": { schema: reference("Problem") } },
  };
}

/** The names of schemas that have one. */
export const NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]),
);

/** A schema that has a name is told by it. */
function referring(value: unknown): unknown {
  const name = NAMES.get(value);
  return name === undefined ? inner(value) : reference(name);
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, referring(child)]));
}

function reference(name: string): Part {
  return { $ref: `#/components/schemas/${name}` };
}
