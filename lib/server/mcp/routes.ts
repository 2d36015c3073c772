// MCP over HTTP at one path. What speaks it is loaded with the first request.

import { defineRoute } from "../route.ts";
import type { Route, RouteContext } from "../route.ts";
import type { ServerSettings } from "../server_settings.ts";
import type { McpHttp } from "./mcp_http.ts";

const path = "/mcp";

/** JSON-RPC 2.0. */
const MESSAGE = {
  type: ["object", "array"],
  description: "A request, a notification, an answer to the server, or several of them",
  maxItems: 1000,
  items: { type: "object" },
} as const;

/** The one path of MCP. */
export const mcpRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path,
    summary: "A message of MCP (streamable HTTP)",
    request: { body: MESSAGE },
    responses: {
      200: { description: "What it is answered with, as JSON or as SSE" },
      202: { description: "It needs no answer" },
    },
    access: "bearer",
    handle: (context) => answer(context, context.body),
  }),
  defineRoute({
    method: "GET",
    path,
    summary: "What the server says by itself to a session of MCP, as SSE",
    responses: { 200: { description: "Its messages", type: "text/event-stream" } },
    access: "bearer",
    handle: (context) => answer(context),
  }),
  defineRoute({
    method: "DELETE",
    path,
    summary: "Ends a session of MCP",
    responses: { 200: { description: "It has ended" } },
    access: "bearer",
    handle: (context) => answer(context),
  }),
];

/** The sessions of each server. */
const opened = new WeakMap<ServerSettings, Promise<McpHttp>>();

async function answer(context: RouteContext, body?: unknown): Promise<Response> {
  const http = opened.get(context.settings) ?? openHttp(context);
  opened.set(context.settings, http);
  return await (await http).fetch(context.request, body);
}

async function openHttp(context: RouteContext): Promise<McpHttp> {
  const { McpHttp }: typeof import("./mcp_http.ts") = await import("./mcp_http.ts" as string);
  return new McpHttp(context);
}
