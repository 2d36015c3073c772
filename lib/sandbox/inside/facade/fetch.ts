import { STATUS_REASONS } from "../../../core/status_reasons.ts";
import type { Effects } from "../../../core/gadget_message.ts";
import { collected, pathOfUrl } from "./arguments.ts";
import { fetchError } from "./error.ts";
import { fieldOf, isNumber, isText } from "./file_steps.ts";
import { type Answer, asking, step } from "./steps.ts";

/** The runtime's own, for URLs that hold their content themselves: it has no permission for any other. */
const ownFetch = fetch;

/** `fetch`: the platform's own requests and answers, sent by Orrery. */
export function gadgetFetch(effects: Effects): (input: unknown, init?: unknown) => Promise<Response> {
  const ask = asking(effects, fetchError);
  return async (input, init) => {
    const request = requestOf(input, init);
    const { url, method, redirect, signal } = request;
    signal.throwIfAborted();
    const { protocol } = new URL(url);
    if (protocol === "data:" || protocol === "blob:") return await ownFetch(url, { method, signal });
    if (protocol === "file:") return await fetchFile(url, method, { ask, signal });
    if (protocol !== "http:" && protocol !== "https:") {
      throw new TypeError(
        `Cannot fetch ${JSON.stringify(url)}: expected http: or https:, found "${protocol}"`,
      );
    }
    const headers = [...request.headers].filter(([name]) => name !== "content-length"); // it follows from the body
    const bytes = request.body === null ? undefined : await collected(request.body);
    const op = { kind: "fetch", url, method, headers, redirect: redirectOf(redirect) } as const;
    return responseOf(await ask.soon(step(op, bytes), signal), url, method);
  };
}

function requestOf(input: unknown, init: unknown): Request {
  const options: RequestInit = typeof init === "object" && init !== null ? init : {};
  if (input instanceof Request) return new Request(input, options);
  const url = String(input);
  if (URL.canParse(url)) return new Request(url, options);
  throw new TypeError(
    `Cannot fetch ${
      JSON.stringify(url.slice(0, 500))
    }: expected a whole URL such as "https://example.com/page"`,
  );
}

function redirectOf(value: string): "follow" | "manual" | "error" {
  return value === "manual" || value === "error" ? value : "follow";
}

async function fetchFile(
  url: string,
  method: string,
  { ask, signal }: { readonly ask: ReturnType<typeof asking>; readonly signal: AbortSignal },
): Promise<Response> {
  if (method !== "GET") {
    throw new TypeError(
      `Cannot fetch ${JSON.stringify(url)}: a file can be fetched with GET only, found ${method}`,
    );
  }
  const { bytes } = await ask.soon(step({ kind: "read", path: pathOfUrl(new URL(url)) }), signal);
  return told(new Response(new Uint8Array(bytes)), { url, isRedirected: false });
}

/** Statuses that have no body, not even an empty one. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

function responseOf({ ok, bytes }: Answer, asked: string, method: string): Response {
  const status = fieldOf(ok, "status", isNumber) ?? 0;
  const url = fieldOf(ok, "url", isText) ?? asked;
  const found = fieldOf(ok, "headers", (value) => Array.isArray(value)) ?? [];
  const headers = new Headers();
  for (const pair of found) {
    const [name, value]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (isText(name) && isText(value)) headers.append(name, value);
  }
  const isEmpty = WITHOUT_BODY.includes(status) || method === "HEAD";
  const body = isEmpty ? null : new Uint8Array(bytes);
  const response = new Response(body, { status, statusText: STATUS_REASONS[status] ?? "", headers });
  return told(response, { url, isRedirected: withoutHash(url) !== withoutHash(asked) });
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/s, "");
}

/** What no constructor takes; a clone has it too. */
function told(response: Response, said: { readonly url: string; readonly isRedirected: boolean }): Response {
  const { clone } = response;
  const define = (name: string, value: unknown): unknown =>
    Object.defineProperty(response, name, { value, configurable: true });
  define("url", said.url);
  define("redirected", said.isRedirected);
  define("type", "basic");
  define("clone", () => told(Reflect.apply(clone, response, []), said));
  return response;
}
