import type { JSX } from "hono/jsx/jsx-runtime";
import { html, seeOther } from "../answers.ts";
import { openAssets } from "../assets.ts";
import { isSameText } from "../guard.ts";
import { chosenTheme } from "../pages/chosen_theme.ts";
import { LonePage } from "../pages/layout.tsx";
import type { PageFrame } from "../pages/layout.tsx";
import { defineRoute } from "../route.ts";
import { sessionCookie } from "../session.ts";

const PAGE = { description: "The form", type: "text/html; charset=utf-8" } as const;

/** Where somebody comes in who has the token and no link. */
export const loginRoutes = [
  defineRoute({
    method: "GET",
    path: "/login",
    summary: "Asks for the token",
    responses: { 200: PAGE },
    access: "open",
    handle: ({ request }) => loginPage(request, { isWrong: false }),
  }),
  defineRoute({
    method: "POST",
    path: "/login",
    summary: "Gives the browser its cookie in exchange for the token",
    request: {
      body: {
        type: "object",
        properties: { token: { type: "string", maxLength: 1_000 } },
        required: ["token"],
        additionalProperties: false,
      },
    },
    responses: { 303: { description: "To the page" }, 401: { ...PAGE, description: "It is another one" } },
    access: "open",
    accepts: "form",
    handle({ settings, request, body }) {
      if (settings.token !== undefined && !isSameText(body.token.trim(), settings.token)) {
        return loginPage(request, { isWrong: true });
      }
      return seeOther("/", { "set-cookie": sessionCookie(settings.cookie, settings.sessions.begin()) });
    },
  }),
];

async function loginPage(
  { headers }: Request,
  { isWrong }: { readonly isWrong: boolean },
): Promise<Response> {
  const frame = { assets: (await openAssets()).base, theme: chosenTheme(headers) };
  return await html(<Login frame={frame} isWrong={isWrong} />, { status: isWrong ? 401 : 200 });
}

function Login({ frame, isWrong }: {
  readonly frame: Pick<PageFrame, "assets" | "theme">;
  readonly isWrong: boolean;
}): JSX.Element {
  return (
    <LonePage frame={frame} title="Come in">
      <h1>Come in</h1>
      <p>
        <code>orrery serve</code>{" "}
        printed a link and a token when it started. The link works once; the token as long as the server runs.
      </p>
      {isWrong && <p role="alert">This is not the token of this server: it changes with each start.</p>}
      <form method="post" action="/login">
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="off" autofocus />
        <button type="submit">Open</button>
      </form>
    </LonePage>
  );
}
