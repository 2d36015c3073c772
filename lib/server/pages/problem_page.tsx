import type { JSX } from "hono/jsx/jsx-runtime";
import { PAGE_POLICY, seeOther, text } from "../answers.ts";
import { assetsNow } from "./assets.ts";
import { type ProblemDetails, titleOf } from "../problem.ts";
import { chosenTheme, LonePage, type PageFrame } from "./layout.tsx";

/** What kept a page from being made, as a page; who is not let in yet is asked for the token. @param headers of the request */
export function problemPage(problem: ProblemDetails, headers: Pick<Headers, "get">): Response {
  if (problem.status === 401) return seeOther("/login");
  return text(`<!DOCTYPE html>\n${<ProblemPage problem={problem} theme={chosenTheme(headers)} />}`, {
    status: problem.status,
    type: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY, ...problem.headers },
  });
}

function ProblemPage(
  { problem: { status, code, detail }, theme }: {
    readonly problem: ProblemDetails;
    readonly theme: PageFrame["theme"];
  },
): JSX.Element {
  return (
    <LonePage frame={{ assets: assetsNow(), theme }} title={titleOf(status)}>
      <h1>{titleOf(status)}</h1>
      <p class="note" data-tone="bad">{detail}</p>
      <p class="small soft">
        {status} <code>{code}</code>
      </p>
      <p>
        <a class="button" href="/">To the overview</a>
      </p>
    </LonePage>
  );
}
