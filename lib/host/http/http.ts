import {
  collectedBytes,
  type Http,
  type HttpOptions,
  type HttpStream,
  PermissionRefused,
  type Policy,
} from "../../core/core.ts";
import { AbortableConnection, connectionProblem, dial } from "./dial.ts";
import {
  acceptedEncodings,
  decoded,
  exchange,
  type HttpAnswer,
  type HttpBody,
  type HttpRequest,
} from "./exchange.ts";

/** Who is asked before a connection, and whom it may trust. */
export interface HostHttpOptions {
  /** Called for every hop: with the host before it is resolved, and with each address before it is dialled. */
  readonly check: Policy["permit"];
  /** PEM certificates that are trusted besides those that Deno trusts. */
  readonly caCerts?: readonly string[];
  /** Errors name URLs without their queries, which may hold a key. */
  readonly hidesQueries?: boolean;
}

/** It sends a body also while that is being made; then it follows no redirect. */
export interface HostHttp extends Http {
  open(
    url: string,
    options?:
      | HttpOptions
      | (Omit<HttpOptions, "body"> & { readonly body?: HttpBody; readonly redirect: "manual" }),
  ): Promise<HttpStream>;
}

const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;
const DEFAULT_MAX_REDIRECTS = 10;

/** The network of this machine, HTTP/1.1 without proxies; every hop is resolved, checked and then dialled at that address. */
export function hostHttp(options: HostHttpOptions): HostHttp {
  const open: HostHttp["open"] = (url, httpOptions = {}) => openUrl(url, { ...options, httpOptions });
  return {
    open,
    async fetch(url, { maxBytes = DEFAULT_MAX_BYTES, ...httpOptions } = {}) {
      const { body, ...head } = await open(url, httpOptions);
      return { ...head, ...await collectedBytes(body, maxBytes) };
    },
  };
}

/** What of `fetch` there is: a URL, and text as a body. */
export type StreamFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Statuses with which a Response may not have a body. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/**
 * `fetch` for libraries that take one: the address that was checked is the one that is dialled, the body comes as it is sent, and a redirect is an
 * error, since the next host was not asked for.
 */
export function hostStreamFetch(options: HostHttpOptions): StreamFetch {
  return async (input, init = {}) => {
    const { href } = new URL(input instanceof Request ? input.url : input);
    const given = init.body ?? undefined;
    if (given !== undefined && typeof given !== "string") {
      throw new TypeError("expected text as the body of a request");
    }
    const { status, headers, body } = await openUrl(href, {
      ...options,
      hidesQueries: true,
      httpOptions: {
        method: init.method,
        headers: { "accept-encoding": "identity", ...Object.fromEntries(new Headers(init.headers)) },
        body: given,
        signal: init.signal ?? undefined,
        redirect: "error",
      },
    });
    const isEmpty = WITHOUT_BODY.includes(status);
    if (isEmpty) { for await (const _ of body); // its end closes the connection
     }
    const { "content-encoding": _encoding, "content-length": _length, ...shown } = headers;
    return new Response(isEmpty ? null : ReadableStream.from(body), { status, headers: shown });
  };
}

interface OpenOptions extends HostHttpOptions {
  readonly httpOptions: Omit<HttpOptions, "redirect" | "body"> & {
    readonly body?: HttpBody;
    readonly redirect?: HttpOptions["redirect"] | "error";
  };
}

async function openUrl(url: string, options: OpenOptions): Promise<HttpStream> {
  const { signal, maxRedirects = DEFAULT_MAX_REDIRECTS } = options.httpOptions;
  signal?.throwIfAborted();
  let request = decodable(requestOf(url, options.httpOptions));
  for (let hops = 0;; hops++) {
    const outcome = await oneHop(request, { ...options, first: hops === 0 ? undefined : url });
    if (!("redirected" in outcome)) return outcome;
    if (hops === maxRedirects) {
      const to = JSON.stringify(outcome.redirected.url.href);
      throw new Error(
        `Cannot fetch ${JSON.stringify(url)}: more than ${hops} redirects, the last one to ${to}`,
      );
    }
    request = outcome.redirected;
  }
}

/** What the caller says of encodings stays as it is. */
function decodable(request: HttpRequest): HttpRequest {
  if (request.headers.has("accept-encoding")) return request;
  return { ...request, headers: new Map([...request.headers, ["accept-encoding", acceptedEncodings()]]) };
}

interface HopOptions extends OpenOptions {
  /** The URL that was asked for, when this is another one. */
  readonly first: string | undefined;
}

type Outcome = HttpStream | { readonly redirected: HttpRequest };

async function oneHop(request: HttpRequest, options: HopOptions): Promise<Outcome> {
  const { signal, secretHeaders, redirect } = options.httpOptions;
  const connection = new AbortableConnection(signal);
  try {
    connection.open(
      await dial(targetOf(request.url, options), { check: options.check, signal }),
    );
    const answer = await exchange(connection, request);
    const redirected = redirect === "manual" ? undefined : maybeRedirected(request, answer, secretHeaders);
    if (redirected !== undefined && redirect === "error") {
      throw new Error(
        `it redirects to ${JSON.stringify(answer.headers.get("location"))}, which is not followed`,
      );
    }
    if (redirected === undefined) return streamOf(request, { answer, connection, options });
    connection.close();
    return { redirected };
  } catch (error) {
    connection.close();
    throw hopProblem(error, request.url, options);
  }
}

function targetOf(url: URL, { caCerts = [] }: HopOptions) {
  const tls = url.protocol === "https:";
  return { host: url.hostname, port: url.port === "" ? (tls ? 443 : 80) : Number(url.port), tls, caCerts };
}

interface Hop {
  readonly answer: HttpAnswer;
  readonly connection: AbortableConnection;
  readonly options: HopOptions;
}

function streamOf({ url }: HttpRequest, { answer, connection, options }: Hop): HttpStream {
  const { status, headers, body } = answer;
  const chunks = decoded(body, headers.get("content-encoding"));
  async function* closing(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      throw hopProblem(error, url, options);
    } finally {
      connection.close();
    }
  }
  return { status, url: url.href, headers: Object.fromEntries(headers), body: closing() };
}

/** What is thrown for an error of a hop; an abort is its own reason. */
function hopProblem(
  error: unknown,
  url: URL,
  { httpOptions: { signal }, first, hidesQueries }: HopOptions,
): unknown {
  if (signal?.aborted) return signal.reason;
  const from = first === undefined ? "" : ` (${JSON.stringify(first)} redirects there)`;
  if (error instanceof PermissionRefused) {
    const { message, request, flag } = error;
    return first === undefined ? error : new PermissionRefused(message + from, { request, flag });
  }
  const shown = JSON.stringify(hidesQueries ? url.origin + url.pathname : url.href);
  return new Error(`Cannot fetch ${shown}: ${connectionProblem(error, url)}${from}`, { cause: error });
}

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
function requestOf(url: string, options: OpenOptions["httpOptions"]): HttpRequest {
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
function maybeRedirected(
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
