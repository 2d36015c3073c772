// Requests to a server, also such as no client would send.

/** The token of the servers of tests. */
export const TOKEN = "a-token-of-the-tests-0123456789";

/** What is asked. */
export interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
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
