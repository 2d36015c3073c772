import { collectedBytes, type Http, type HttpStream, orAborted } from "../../core/core.ts";

/** A program's own `fetch`; the platform's is one. */
export type ProgramFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** 5 MiB. */
const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;

/**
 * A `fetch` as the port. Redirects, and whom it may reach, are for it to decide; an abort ends the wait also where it takes no notice of
 * the signal.
 */
export function httpOfFetch(send: ProgramFetch): Http {
  const open: Http["open"] = async (url, { method = "GET", headers = {}, body, signal, redirect } = {}) => {
    signal?.throwIfAborted();
    const sent = send(url, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === "string" ? body : new Uint8Array(body) }),
      redirect,
      signal,
    });
    return streamOf(await unlessAborted(sent, signal), url, signal);
  };
  return {
    open,
    async fetch(url, { maxBytes = DEFAULT_MAX_BYTES, ...options } = {}) {
      const { body, ...head } = await open(url, options);
      return { ...head, ...await collectedBytes(body, maxBytes) };
    },
  };
}

function streamOf(response: Response, url: string, signal: AbortSignal | undefined): HttpStream {
  return {
    status: response.status,
    url: response.url === "" ? url : response.url,
    headers: Object.fromEntries(response.headers),
    body: bytesOf(response, signal),
  };
}

async function* bytesOf({ body }: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    while (true) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  return signal === undefined ? work : orAborted(work, signal);
}
