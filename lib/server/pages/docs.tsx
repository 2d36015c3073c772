// The page that explains the API: made of the same table as the OpenAPI document, so that it needs no program of somebody else, nor a network.
import type { JSX } from "hono/jsx/jsx-runtime";
import { isRecord, type Json, type JsonSchema, toJson } from "../../core/core.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { Badge, Block, List } from "./parts.tsx";
import { BODY_TYPES } from "../guard.ts";
import { titleOf } from "../problem.ts";
import { openapiPath, pathNames, type Route } from "../route.ts";
import { mediaOf, NAMES, propertiesOf } from "../api/openapi.ts";
import { SCHEMAS } from "../api/schemas.ts";

/** The page. @param routes read when it is asked for */
export function docsPage(routes: () => readonly Route[]): Route {
  return definePage({
    path: "/docs",
    summary: "This API, as a page",
    page: ({ settings }) => ({
      title: "HTTP API",
      section: "docs",
      children: <Docs routes={routes().filter(isApi)} origin={settings.origin} />,
    }),
  });
}

/** Not the pages themselves, nor what they load. */
function isApi({ path, method, responses }: Route): boolean {
  const isPage = Object.values(responses).some(({ type = "" }) => /html|svg|javascript/.test(type));
  return path.startsWith("/v1/") || path === "/mcp" ||
    (!isPage && method === "GET" && !path.startsWith("/link"));
}

function Docs(
  { routes, origin }: { readonly routes: readonly Route[]; readonly origin: string },
): JSX.Element {
  return (
    <>
      <PageHead
        title="HTTP API"
        lede={"Everything the command line does to files of the project. Each request shows the token (Authorization: Bearer TOKEN); errors are " +
          "application/problem+json with a code. Programs read /openapi.json."}
        actions={<a class="button" href="/openapi.json">openapi.json</a>}
      />
      <nav aria-label="Routes">
        <List
          label="Routes"
          rows={routes}
          columns={[
            [
              "Route",
              (route) => <a href={`#${idOf(route)}`}>{`${route.method} ${openapiPath(route.path)}`}</a>,
              "name",
            ],
            ["What it does", ({ summary }) => summary],
          ]}
        />
      </nav>
      {routes.map((route) => <RouteDocs key={idOf(route)} route={route} origin={origin} />)}
      <section aria-labelledby="schemas">
        <h2 id="schemas">Schemas</h2>
        {Object.entries(SCHEMAS).map(([name, schema]) => (
          <details class="fold" id={`schema-${name}`}>
            <summary>
              <code>{name}</code>
            </summary>
            <Block label={`Schema ${name}`} text={JSON.stringify(schema, null, 2)} />
          </details>
        ))}
      </section>
    </>
  );
}

function RouteDocs({ route, origin }: { readonly route: Route; readonly origin: string }): JSX.Element {
  const { method, path, summary, description, access, params, query, body, accepts = "json" } = route;
  const id = idOf(route);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        <code>{`${method} ${openapiPath(path)}`}</code>
      </h2>
      <p>{summary}. {description}</p>
      <p>
        {access === "open"
          ? <Badge>no token</Badge>
          : access === "bearer"
          ? <Badge>token, no cookie</Badge>
          : null}
      </p>
      <Fields label="Parts of the path" schema={params} names={pathNames(path)} />
      <Fields label="Query" schema={query} />
      <Fields label="Body" schema={body} />
      <Block label={`An example of ${method} ${path}`} text={exampleRequest(route, origin)} />
      <Answers route={route} />
      {accepts === "calls" && <p class="small soft">The body is a text of calls, whole or piece by piece.</p>}
    </section>
  );
}

function Fields({ label, schema, names }: {
  readonly label: string;
  readonly schema: JsonSchema | undefined;
  readonly names?: readonly string[];
}): JSX.Element | null {
  const rows = propertiesOf(schema, names);
  return rows.length === 0 ? null : (
    <>
      <h3>{label}</h3>
      <List
        label={label}
        rows={rows}
        columns={[
          ["Name", ({ name }) => <code>{name}</code>, "name"],
          ["Type", ({ schema }) => typeWords(schema), "nowrap"],
          ["Needed", ({ isRequired }) => isRequired ? "yes" : "no", "nowrap"],
          ["About", ({ schema: { description } }) => typeof description === "string" ? description : ""],
        ]}
      />
    </>
  );
}

function typeWords(schema: JsonSchema): string {
  const { type, enum: choices, items } = schema;
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(" or ");
  if (type === "array") return `list of ${isRecord(items) ? typeWords(items) : "anything"}`;
  if (Array.isArray(type)) return type.join(" or ");
  return typeof type === "string" ? type : "anything";
}

function Answers({ route: { responses, problems = {} } }: { readonly route: Route }): JSX.Element {
  const answers = Object.entries(responses).map(([status, answer]) => ({
    status,
    words: answer.description,
    type: mediaOf(answer).join(" or "),
    name: NAMES.get(answer.schema),
  }));
  const refusals = Object.entries(problems).map(([status, codes]) => ({
    status,
    words: `${titleOf(Number(status))}: ${codes.join(", ")}`,
    type: "application/problem+json",
    name: "Problem",
  }));
  return (
    <>
      <h3>Answers</h3>
      <List
        label="Answers"
        rows={[...answers, ...refusals]}
        columns={[
          ["Status", ({ status }) => status, "name"],
          ["What", ({ words }) => words],
          ["Type", ({ type }) => type, "nowrap"],
          ["Schema", ({ name }) => name && <a href={`#schema-${name}`}>{name}</a>, "nowrap"],
        ]}
      />
    </>
  );
}

function idOf({ method, path }: Route): string {
  return `${method}${path}`.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase();
}

/** As it is typed in a shell. */
function exampleRequest(
  { method, path, access, accepts = "json", body }: Route,
  origin: string,
): string {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${origin}${openapiPath(path)}`];
  if (access !== "open") lines.push('-H "Authorization: Bearer $TOKEN"');
  if (method !== "GET" && accepts === "calls") {
    lines.push(`-H "Content-Type: ${BODY_TYPES.calls[0]}"`, "--data-binary @FILE.calls");
  } else if (method !== "GET" && body !== undefined) {
    lines.push(
      `-H "Content-Type: ${BODY_TYPES[accepts][0]}"`,
      `-d '${JSON.stringify(exampleOf(body)).replaceAll("'", "'\\''")}'`,
    );
  }
  return lines.join(" \\\n  ");
}

/** A small value that a schema of a route lets through: of an object what it needs, else its first property. */
function exampleOf(schema: JsonSchema): Json {
  const { type, enum: choices, anyOf } = schema;
  if (Array.isArray(choices)) return toJson(choices[0]);
  if (Array.isArray(anyOf)) return isRecord(anyOf[0]) ? exampleOf(anyOf[0]) : {};
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "…";
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "array":
      return isRecord(schema.items) ? [exampleOf(schema.items)] : [];
    default:
      return exampleObject(schema);
  }
}

function exampleObject(schema: JsonSchema): Json {
  const fields = propertiesOf(schema);
  const needed = fields.filter(({ isRequired }) => isRequired);
  const shown = needed.length > 0 ? needed : fields.slice(0, 1);
  return Object.fromEntries(shown.map(({ name, schema }) => [name, exampleOf(schema)]));
}
