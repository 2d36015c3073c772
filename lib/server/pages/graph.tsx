import type { JSX } from "hono/jsx/jsx-runtime";
import { text } from "../answers.ts";
import { defineRoute, type Route } from "../route.ts";
import { PATH_PARAMS } from "./define_page.tsx";
import { href } from "./parts.tsx";

/** What a file does, drawn: loaded when it is unfolded. */
export function Graph({ file }: { readonly file: string }): JSX.Element {
  return (
    <details class="fold">
      <summary>Graph</summary>
      <div class="graph" tabindex={0} role="region" aria-label={`The graph of ${file}`}>
        <img
          src={href("/graphs", file)}
          alt={`A drawing of what ${file} does; its outline says the same in words`}
          loading="lazy"
        />
      </div>
    </details>
  );
}

/** An SVG has its styles inside, and nothing else that a page could load. */
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** `/graphs/PATH`: the picture. */
export const graphRoute: Route = defineRoute(
  "GET",
  "/graphs/{path+}",
  "The graph of a document, a call file or an agent, as a picture",
  {
    params: PATH_PARAMS,
    responses: { 200: { description: "The picture", type: "image/svg+xml" } },
    problems: { 404: ["not-found"] },
    async handle({ service, params: { path } }) {
      const { svg } = await service.look.graph(path);
      const picture = svg === "" ? TOO_LARGE : svg;
      return text(picture, { type: "image/svg+xml", headers: { "content-security-policy": SVG_POLICY } });
    },
  },
);

const TOO_LARGE =
  `<svg xmlns="http://www.w3.org/2000/svg" width="420" height="40"><text x="10" y="25" font-family="sans-serif" font-size="14">` +
  "This is too large to be drawn: orrery graph --format mermaid</text></svg>";
