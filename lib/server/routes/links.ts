import { json, seeOther } from "../answers.ts";
import { HttpProblem } from "../problem.ts";
import { defineRoute } from "../route.ts";
import { sessionCookie } from "../session.ts";

/** How a browser gets its cookie. */
export const linkRoutes = [
  defineRoute({
    method: "POST",
    path: "/v1/links",
    summary: "A link to the page that works once, within five minutes",
    responses: {
      201: {
        description: "The link",
        schema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
      },
    },
    access: "bearer",
    handle: ({ settings }) =>
      json({ url: `${settings.origin}/link/${settings.sessions.link()}` }, { status: 201 }),
  }),
  defineRoute({
    method: "GET",
    path: "/link/{code}",
    summary: "Gives the browser its cookie, once",
    request: {
      params: {
        type: "object",
        properties: { code: { type: "string", pattern: "^[\\w-]{1,100}$" } },
        required: ["code"],
      },
    },
    responses: { 303: { description: "To the page" } },
    problems: { 404: ["link"] },
    access: "open",
    handle({ settings: { sessions, cookie }, params: { code }, isHead }) {
      if (isHead && sessions.isLink(code)) return seeOther("/"); // whoever looks where it leads has not followed it
      const session = sessions.follow(code);
      if (session === undefined) {
        throw new HttpProblem(404, "link", {
          detail:
            "this link was used, or is older than five minutes: open /login, or ask for a new one by POST /v1/links",
        });
      }
      return seeOther("/", { "set-cookie": sessionCookie(cookie, session) });
    },
  }),
];
