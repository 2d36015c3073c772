// A server over a socket of its own, with a service that is written by the test, and requests as no client would send them.
import { type OpenServer, openServer, type OpenServerOptions } from "../lib/server/server.ts";
import type { Service } from "../lib/service/service.ts";
import { type FakeScript, type FakeService, fakeService } from "./_fake_service.ts";

/** The token of the servers of tests. */
export const TOKEN = "a-token-of-the-tests-0123456789";

/** A server and what stands behind it. */
export interface ServedFake extends AsyncDisposable {
  readonly server: OpenServer;
  readonly service: FakeService;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly port: number;
  /** What was told at the terminal. */
  readonly told: readonly string[];
  /** A request with the token, JSON where there is a body. */
  ask(path: string, options?: AskOptions): Promise<Response>;
}

/** What is asked. */
export interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Serves a fake. */
export function serveFake(
  script: FakeScript = {},
  options: Partial<OpenServerOptions> = {},
): ServedFake {
  const service = fakeService(script);
  const told: string[] = [];
  const server = openServer(service, {
    port: 0,
    token: TOKEN,
    tell: (text) => void told.push(text),
    ...options,
  });
  const { origin } = server;
  return {
    server,
    service,
    origin,
    port: Number(new URL(origin).port),
    told,
    ask: (path, given) => askServer(origin, path, given),
    [Symbol.asyncDispose]: () => server.stop({ graceMs: 0 }),
  };
}

/** Asks a server with the token of tests. */
export async function askServer(
  origin: string,
  path: string,
  { method, body, headers = {}, signal }: AskOptions = {},
): Promise<Response> {
  return await fetch(`${origin}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    signal: signal ?? AbortSignal.timeout(20_000),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** A service that nothing may ask anything. */
export function untouchedService(): { readonly service: Service; readonly touched: readonly string[] } {
  const touched: string[] = [];
  const fake = fakeService();
  const stop: Service["stop"] = (options) => fake.stop(options);
  const service = new Proxy(fake, {
    get(target, name) {
      if (name === "stop") return stop;
      if (name === "root" || name === "version") return Reflect.get(target, name, target);
      touched.push(String(name));
      throw new Error(`the service was asked for ${String(name)}`);
    },
  });
  return { service, touched };
}

/** What came back on a raw connection. */
export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  /** In lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends these bytes and reads one answer. @param options.waitMs how long at most; default 5,000 */
export async function sendRaw(
  port: number,
  request: string | Uint8Array,
  { waitMs = 5_000 }: { readonly waitMs?: number } = {},
): Promise<RawAnswer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const late = setTimeout(() => connection.close(), waitMs);
  let text = "";
  try {
    const bytes = typeof request === "string" ? new TextEncoder().encode(request) : request;
    writeAll(connection, bytes).catch(() => undefined); // it may answer before it has read all
    for await (const chunk of connection.readable) {
      text += new TextDecoder("latin1").decode(chunk);
      if (isWhole(text)) break;
    }
  } catch (error) {
    if (
      !(error instanceof Deno.errors.BadResource || error instanceof Deno.errors.ConnectionReset ||
        error instanceof Deno.errors.Interrupted)
    ) throw error;
  } finally {
    clearTimeout(late);
  }
  return parsed(text);
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function isWhole(text: string): boolean {
  const { status, headers, body } = parsed(text);
  if (status === 0 || !text.includes("\r\n\r\n")) return false;
  const length = headers.get("content-length");
  if (length !== undefined) return body.length >= Number(length);
  return headers.get("transfer-encoding") === undefined || text.endsWith("0\r\n\r\n");
}

function parsed(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, Math.max(0, end)).split("\r\n");
  const headers = new Map(lines.map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
  }));
  return {
    status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0),
    headers,
    body: end < 0 ? "" : text.slice(end + 4),
  };
}

/** The status of an answer of which nothing else is looked at. */
export async function statusOf(response: Response): Promise<number> {
  await response.body?.cancel();
  return response.status;
}

/** The code of a problem. */
export function codeOf(body: string): string | undefined {
  return /"code":"([^"]*)"/.exec(body)?.[1];
}
