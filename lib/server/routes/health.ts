import { json } from "../answers.ts";
import { defineRoute } from "../route.ts";

/** Whether the server is there. */
export const healthRoutes = [
  defineRoute({
    method: "GET",
    path: "/healthz",
    summary: "Whether the server is there",
    responses: {
      200: {
        description: "It is",
        schema: {
          type: "object",
          properties: { status: { enum: ["ok"] }, version: { type: "string" } },
          required: ["status", "version"],
        },
      },
    },
    access: "open",
    handle: ({ service }) => json({ status: "ok", version: service.version }),
  }),
];
