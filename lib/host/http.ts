import { PermissionRefused, type Policy } from "../core/world.ts";
import type { Http, HttpResponse } from "../core/world.ts";
import { connectionProblem } from "./connection_problem.ts";
import { dial } from "./dial.ts";
import { ACCEPTED_ENCODINGS, collected, decoded } from "./http_decoding.ts";
import { exchange, type HttpAnswer, type HttpRequest } from "./http_exchange.ts";
import { maybeRedirected, requestOf } from "./http_request.ts";

/** Who is asked before a connection, and whom it may trust. */
export interface HostHttpOptions {
  /** Called for every hop: with the host before it is resolved, and with each address before it is dialled. */
  readonly check: Policy["permit"];
  /** PEM certificates that are trusted besides those that Deno trusts. */
  readonly caCerts?: readonly string[];
}

type FetchOptions = NonNullable<Parameters<Http["fetch"]>[1]>;

const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;
const DEFAULT_MAX_REDIRECTS = 10;

/** The network of this machine, HTTP/1.1 without proxies; every hop is resolved, checked and then dialled at that address. */
export function hostHttp(options: HostHttpOptions): Http {
  return {
    async fetch(url, fetchOptions = {}) {
      fetchOptions.signal?.throwIfAborted();
      let request = requestOf(url, fetchOptions);
      if (!request.headers.has("accept-encoding")) {
        request = {
          ...request,
          headers: new Map([...request.headers, ["accept-encoding", ACCEPTED_ENCODINGS]]),
        };
      }
      for (let hops = 0;; hops++) {
        const outcome = await oneHop(request, {
          ...options,
          fetchOptions,
          first: hops === 0 ? undefined : url,
        });
        if (!("redirected" in outcome)) return outcome;
        if (hops === (fetchOptions.maxRedirects ?? DEFAULT_MAX_REDIRECTS)) {
          const to = JSON.stringify(outcome.redirected.url.href);
          throw new Error(
            `Cannot fetch ${JSON.stringify(url)}: more than ${hops} redirects, the last one to ${to}`,
          );
        }
        request = outcome.redirected;
      }
    },
  };
}

interface HopOptions extends HostHttpOptions {
  readonly fetchOptions: FetchOptions;
  /** The URL that was asked for, when this is another one. */
  readonly first: string | undefined;
}

type Outcome = HttpResponse | { readonly redirected: HttpRequest };

async function oneHop(request: HttpRequest, options: HopOptions): Promise<Outcome> {
  const { signal } = options.fetchOptions;
  let connection: Deno.Conn | undefined;
  // Closing is what ends a read that waits.
  const close = () => closeQuietly(connection);
  signal?.addEventListener("abort", close, { once: true });
  try {
    connection = await dial(targetOf(request.url, options), {
      check: options.check,
      ...(signal && { signal }),
    });
    signal?.throwIfAborted();
    return await outcomeOf(request, { answer: await exchange(connection, request), ...options });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw fetchProblem(error, { url: request.url, first: options.first });
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}

function targetOf(url: URL, { caCerts = [] }: HopOptions) {
  const tls = url.protocol === "https:";
  return { host: url.hostname, port: url.port === "" ? (tls ? 443 : 80) : Number(url.port), tls, caCerts };
}

async function outcomeOf(
  request: HttpRequest,
  options: HopOptions & { answer: HttpAnswer },
): Promise<Outcome> {
  const { status, headers, body } = options.answer;
  const redirected = maybeRedirected(request, options.answer);
  if (redirected !== undefined) return { redirected };
  const maxBytes = options.fetchOptions.maxBytes ?? DEFAULT_MAX_BYTES;
  const read = await collected(decoded(body, headers.get("content-encoding")), maxBytes);
  return { status, url: request.url.href, headers: Object.fromEntries(headers), ...read };
}

function closeQuietly(connection: Deno.Conn | undefined): void {
  try {
    connection?.close();
  } catch { /* closed already */ }
}

function fetchProblem(error: unknown, { url, first }: { url: URL; first: string | undefined }): Error {
  const from = first === undefined ? "" : ` (${JSON.stringify(first)} redirects there)`;
  if (error instanceof PermissionRefused) {
    const { message, request, flag } = error;
    return first === undefined ? error : new PermissionRefused(message + from, { request, flag });
  }
  return new Error(`Cannot fetch ${JSON.stringify(url.href)}: ${connectionProblem(error, url)}${from}`, {
    cause: error,
  });
}
