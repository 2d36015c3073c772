import {
  collectedBytes,
  type Http,
  type HttpOptions,
  type HttpStream,
  PermissionRefused,
  type Policy,
} from "../../core/core.ts";
import { AbortableConnection, connectionProblem, dial } from "./dial.ts";
import { ACCEPTED_ENCODINGS, decoded, exchange, type HttpAnswer, type HttpRequest } from "./exchange.ts";
import { maybeRedirected, requestOf } from "./request.ts";

/** Who is asked before a connection, and whom it may trust. */
export interface HostHttpOptions {
  /** Called for every hop: with the host before it is resolved, and with each address before it is dialled. */
  readonly check: Policy["permit"];
  /** PEM certificates that are trusted besides those that Deno trusts. */
  readonly caCerts?: readonly string[];
}

const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;
const DEFAULT_MAX_REDIRECTS = 10;

/** The network of this machine, HTTP/1.1 without proxies; every hop is resolved, checked and then dialled at that address. */
export function hostHttp(options: HostHttpOptions): Http {
  const open: Http["open"] = (url, httpOptions = {}) => openUrl(url, { ...options, httpOptions });
  return {
    open,
    async fetch(url, { maxBytes = DEFAULT_MAX_BYTES, ...httpOptions } = {}) {
      const { body, ...head } = await open(url, httpOptions);
      return { ...head, ...await collectedBytes(body, maxBytes) };
    },
  };
}

interface OpenOptions extends HostHttpOptions {
  readonly httpOptions: HttpOptions;
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
  return { ...request, headers: new Map([...request.headers, ["accept-encoding", ACCEPTED_ENCODINGS]]) };
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
function hopProblem(error: unknown, url: URL, { httpOptions: { signal }, first }: HopOptions): unknown {
  if (signal?.aborted) return signal.reason;
  const from = first === undefined ? "" : ` (${JSON.stringify(first)} redirects there)`;
  if (error instanceof PermissionRefused) {
    const { message, request, flag } = error;
    return first === undefined ? error : new PermissionRefused(message + from, { request, flag });
  }
  return new Error(`Cannot fetch ${JSON.stringify(url.href)}: ${connectionProblem(error, url)}${from}`, {
    cause: error,
  });
}
