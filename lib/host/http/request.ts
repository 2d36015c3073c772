import type { HttpOptions } from "../../core/core.ts";
import type { HttpAnswer, HttpRequest } from "./exchange.ts";

/** A method or the name of a header (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
/** They say how the connection is used, which is not for the caller to say. */
const OWN_HEADERS: readonly string[] = [
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
];
/** What is meant for one origin only. */
const SECRET_HEADERS: readonly string[] = ["authorization", "cookie", "proxy-authorization"];
const CONTENT_HEADERS: readonly string[] = [
  "content-type",
  "content-encoding",
  "content-language",
  "content-location",
];

/**
 * What a caller asks for, checked: nothing of it can add a line to the request.
 *
 * @throws {Error} that names the URL, the method or the header.
 */
export function requestOf(url: string, options: HttpOptions): HttpRequest {
  const method = (options.method ?? "GET").toUpperCase();
  if (!TOKEN.test(method) || method === "CONNECT" || method === "TRACE") {
    throw new Error(
      `Cannot fetch ${JSON.stringify(url)}: ${JSON.stringify(method)} is no method that can be used`,
    );
  }
  return { url: urlOf(url), method, headers: headersOf(url, options.headers ?? {}), body: options.body };
}

function urlOf(text: string): URL {
  const problem = URL.canParse(text)
    ? urlProblem(new URL(text))
    : `expected a whole URL such as "https://example.com/page"`;
  if (problem !== undefined) throw new Error(`Cannot fetch ${JSON.stringify(text)}: ${problem}`);
  return new URL(text);
}

function urlProblem({ protocol, username, password }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:") {
    return `expected a URL with http: or https:, found "${protocol}"`;
  }
  if (username === "" && password === "") return undefined;
  return `a URL must not hold a name or a password; use the header "authorization"`;
}

function headersOf(url: string, given: Readonly<Record<string, string>>): Map<string, string> {
  const headers = new Map([["accept", "*/*"], ["user-agent", "orrery"]]);
  for (const [name, value] of Object.entries(given)) {
    const problem = headerProblem(name, value);
    if (problem !== undefined) {
      throw new Error(`Cannot fetch ${JSON.stringify(url)}: the header ${JSON.stringify(name)} ${problem}`);
    }
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

function headerProblem(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return "has a name with a character that is not allowed in one";
  if (OWN_HEADERS.includes(name.toLowerCase())) return "is set by Orrery itself";
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    ? undefined
    : "has a value with a character that is not allowed in one";
}

/**
 * The request that a redirect asks for (RFC 9110, 15.4; the Fetch standard's rules for methods); undefined when it is none.
 *
 * @param secretHeaders names of headers that are for one origin only, besides those that always are
 */
export function maybeRedirected(
  request: HttpRequest,
  { status, headers }: HttpAnswer,
  secretHeaders: readonly string[] = [],
): HttpRequest | undefined {
  const location = headers.get("location");
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  const url = redirectUrl(location, request.url);
  if (url.hash === "") url.hash = request.url.hash;
  const toGet = status === 303 ? request.method !== "HEAD" : status < 303 && request.method === "POST";
  const dropped = [
    ...(toGet ? CONTENT_HEADERS : []),
    ...(url.origin === request.url.origin
      ? []
      : [...SECRET_HEADERS, ...secretHeaders.map((name) => name.toLowerCase())]),
  ];
  const kept = [...request.headers].filter(([name]) => !dropped.includes(name));
  return {
    url,
    method: toGet ? "GET" : request.method,
    headers: new Map(kept),
    body: toGet ? undefined : request.body,
  };
}

function redirectUrl(location: string, base: URL): URL {
  const problem = URL.canParse(location, base) ? urlProblem(new URL(location, base)) : "that is no URL";
  if (problem !== undefined) throw new Error(`it redirects to ${JSON.stringify(location)}: ${problem}`);
  return new URL(location, base);
}
