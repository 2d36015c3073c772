import { onlyFields } from "../../core/core.ts";
import type { JSX } from "hono/jsx/jsx-runtime";
import { html, seeOther } from "../answers.ts";
import { openAssets } from "../pages/assets.ts";
import { isSameText } from "../guard.ts";
import { chosenTheme, LonePage, type PageFrame } from "../pages/layout.tsx";
import { defineRoute } from "../route.ts";
import { sessionCookie } from "../session.ts";

const TO = {
  type: "string",
  maxLength: 2_000,
  description: "The page that is wanted; default: the overview",
} as const;

const PAGE = { description: "The form", type: "text/html; charset=utf-8" } as const;

/** Where somebody comes in who has the token and no link. */
export const loginRoutes = [
  defineRoute("GET", "/login", "Asks for the token", {
    query: onlyFields({ to: TO }),
    responses: { 200: PAGE },
    access: "open",
    handle: ({ request, query: { to } }) => loginPage(request, { isWrong: false, to }),
  }),
  defineRoute("POST", "/login", "Gives the browser its cookie in exchange for the token", {
    body: onlyFields({ token: { type: "string", maxLength: 1_000 }, to: TO }, ["token"]),
    responses: { 303: { description: "To the page" }, 401: { ...PAGE, description: "It is another one" } },
    access: "open",
    accepts: "form",
    handle({ settings, request, body }) {
      if (settings.token !== undefined && !isSameText(body.token.trim(), settings.token)) {
        return loginPage(request, { isWrong: true, to: body.to });
      }
      return seeOther(placeOf(body.to, settings.origin), {
        "set-cookie": sessionCookie(settings.cookie, settings.sessions.begin()),
      });
    },
  }),
];

/** A path of ours, whatever was sent. */
function placeOf(to: string | undefined, origin: string): string {
  const url = URL.parse(to ?? "", origin);
  return url?.origin === origin && !url.pathname.startsWith("//") ? url.pathname + url.search : "/";
}

interface LoginState {
  readonly isWrong: boolean;
  readonly to: string | undefined;
}

async function loginPage({ headers }: Request, state: LoginState): Promise<Response> {
  const frame = { assets: (await openAssets()).base, theme: chosenTheme(headers) };
  return await html(<Login frame={frame} {...state} />, { status: state.isWrong ? 401 : 200 });
}

function Login({ frame, isWrong, to }: LoginState & {
  readonly frame: Pick<PageFrame, "assets" | "theme">;
}): JSX.Element {
  return (
    <LonePage frame={frame} title="Come in">
      <h1>Come in</h1>
      <p>
        <code>orrery serve</code>{" "}
        printed a link and a token when it started. The link works once; the token as long as the server runs.
      </p>
      {isWrong && (
        <p role="alert">
          This is not the token of this server; unless it is given one, it has another with each start.
        </p>
      )}
      <form method="post" action="/login">
        {to !== undefined && <input type="hidden" name="to" value={to} />}
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="off" autofocus />
        <button type="submit">Open</button>
      </form>
    </LonePage>
  );
}
