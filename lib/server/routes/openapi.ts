import { json } from "../answers.ts";
import { openapiOf } from "../openapi.ts";
import { defineRoute } from "../route.ts";
import type { Route } from "../route.ts";

/** The OpenAPI document of all routes, itself among them. @param routes read when it is asked for */
export function openapiRoutes(routes: () => readonly Route[]): readonly Route[] {
  let made: unknown;
  return [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document",
      responses: { 200: { description: "OpenAPI 3.1", schema: { type: "object" } } },
      access: "token",
      handle({ service }) {
        made ??= openapiOf(routes(), { version: service.version });
        return json(made);
      },
    }),
  ];
}
