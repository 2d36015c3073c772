// The files that pages load. A compiled program has them inside, made beforehand; else they are made of the sources, once, for the first page.

import { isRecord } from "../../core/core.ts";
import { maybeOwnFile } from "../../host/paths.ts";
import type { PageAssets } from "../../service/look/page_assets.ts";

/** A file that a page loads. */
export interface Asset {
  readonly text: string;
  /** Its media type. */
  readonly type: string;
}

/** The assets of this process. */
export interface Assets {
  /** `/assets/HASH`: under it they never change. */
  readonly base: string;
  /** @param path such as `lib/browser/page.css` */
  find(path: string): Asset | undefined;
}

let opening: Promise<Assets> | undefined;
let opened: Assets | undefined;

/** The one of this process. */
export function openAssets(): Promise<Assets> {
  opening ??= load();
  return opening;
}

/** Where they are, for a page that cannot wait; before the first page a place that knows them too, and is not kept by browsers. */
export function assetsNow(): string {
  return opened?.base ?? UNKEPT_BASE;
}

/** The same files for a moment. */
export const UNKEPT_BASE = "/assets/now";

/** Where `.ci/compile.ts` puts them: beside the modules of the bundle. */
const INSIDE = new URL("./assets/page.json", import.meta.url);

async function load(): Promise<Assets> {
  const { hash, files } = readInside(await maybeOwnFile(INSIDE)) ?? await make();
  return opened = {
    base: `/assets/${hash}`,
    find(path) {
      const text = Object.hasOwn(files, path) ? files[path] : undefined;
      return text === undefined ? undefined : { text, type: typeOf(path) };
    },
  };
}

function readInside(text: string | undefined): PageAssets | undefined {
  if (text === undefined) return undefined;
  const json: unknown = JSON.parse(text);
  if (!isRecord(json) || typeof json.hash !== "string" || !isRecord(json.files)) return undefined;
  const files = Object.entries(json.files).flatMap(([path, each]) =>
    typeof each === "string" ? [[path, each] as const] : []
  );
  return { hash: json.hash, files: Object.fromEntries(files) };
}

async function make(): Promise<PageAssets> {
  const { makePageAssets }: typeof import("../../service/look/page_assets.ts") = await import(
    "../../service/look/page_assets.ts" as string
  );
  return await makePageAssets();
}

function typeOf(path: string): string {
  if (path.endsWith(".css")) return "text/css; charset=utf-8";
  return path.endsWith(".svg") ? "image/svg+xml" : "text/javascript; charset=utf-8";
}
