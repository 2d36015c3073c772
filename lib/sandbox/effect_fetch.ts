import { EFFECT_BYTES_WORDS, MAX_EFFECT_BYTES } from "../core/effect_limits.ts";
import type { EffectOp } from "../core/gadget_message.ts";
import type { Http, HttpResponse } from "../core/world.ts";
import { tooLarge } from "./effect_failure.ts";
import type { EffectSuccess } from "./effects.ts";

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A request of a gadget; the whole answer. Every hop is judged by the port. */
export async function performFetch(
  op: EffectOp & { readonly kind: "fetch" },
  bytes: Uint8Array,
  { http, signal }: { readonly http: Http; readonly signal: AbortSignal },
): Promise<EffectSuccess> {
  const { url, method, redirect } = op;
  const response = await http.fetch(url, {
    method,
    headers: headersOf(op.headers),
    signal,
    maxBytes: MAX_EFFECT_BYTES,
    redirect: redirect === "follow" ? "follow" : "manual",
    ...(bytes.length > 0 && { body: bytes }),
  });
  const shown = JSON.stringify(url);
  if (redirect === "error" && REDIRECTS.includes(response.status)) {
    throw new Error(`Cannot fetch ${shown}: it redirects, and the request says redirect: "error"`);
  }
  if (response.truncated) {
    throw tooLarge(`Cannot fetch ${shown}: the body of the answer has more than ${EFFECT_BYTES_WORDS}`);
  }
  return {
    ok: { status: response.status, url: response.url, headers: answeredHeaders(response) },
    bytes: response.body,
  };
}

/** One value for each name: several of a name are one list (RFC 9110, 5.3), but for cookies. */
function headersOf(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const [given, value] of pairs) {
    const name = given.toLowerCase();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`);
  }
  return Object.fromEntries(headers);
}

/** The encoding has been taken off the body: its length and its name are no longer true. */
function answeredHeaders({ headers }: HttpResponse): (readonly [string, string])[] {
  const isDecoded = headers["content-encoding"] !== undefined;
  return Object.entries(headers).filter(([name]) =>
    !isDecoded || (name !== "content-encoding" && name !== "content-length")
  );
}
