import { text } from "../answers.ts";
import { openAssets, UNKEPT_BASE } from "../assets.ts";
import { HttpProblem } from "../problem.ts";
import { defineRoute } from "../route.ts";
import type { Route } from "../route.ts";

/** What pages load: for everybody, since the page that asks for the token needs it too. */
export const assetRoute: Route = defineRoute({
  method: "GET",
  path: "/assets/{hash}/{path+}",
  summary: "A module, a style sheet or a picture of the pages",
  request: {
    params: {
      type: "object",
      properties: {
        hash: { type: "string", pattern: "^[0-9a-z]{1,64}$" },
        path: { type: "string", minLength: 1, maxLength: 200 },
      },
      required: ["hash", "path"],
    },
  },
  responses: { 200: { description: "The file", type: "text/javascript; charset=utf-8" } },
  problems: { 404: ["not-found"] },
  access: "open",
  async handle({ params: { hash, path } }) {
    const assets = await openAssets();
    const base = `/assets/${hash}`;
    const asset = base === assets.base || base === UNKEPT_BASE ? assets.find(path) : undefined;
    if (asset === undefined) {
      throw new HttpProblem(404, "not-found", {
        detail: "there is no such file: the page that names it is an old one",
      });
    }
    const kept = base === UNKEPT_BASE ? "no-cache" : "public, max-age=31536000, immutable";
    return text(asset.text, { type: asset.type, headers: { "cache-control": kept } });
  },
});
