// Who may ask anything at all. It stands in front of every route, looks at the head of a request and at nothing else, and is pure: a test
// asks it about heads that no client would send.
import { HttpProblem, type ProblemDetails } from "./problem.ts";
import type { Accepts, Access, TellProblem } from "./route.ts";

/** Who asks. `anybody`: the server was started without a token. `nobody`: without the token, where none is needed. */
export type Caller = "token" | "page" | "anybody" | "nobody";

/** What the guard looks at. */
export interface RequestHead {
  readonly method: string;
  /** As the server made it of the request: reading it may throw, when the Host is none. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
}

/** What holds for a route, as far as the head of a request is concerned. */
export interface RouteRule {
  readonly access: Access;
  readonly accepts?: Accepts;
  /** Of its body. */
  readonly maxBytes?: number;
  readonly tellProblem?: TellProblem;
}

/** What the guard goes by. */
export interface GuardSettings<Rule extends RouteRule = RouteRule> {
  /** Whether this is a name of ours, with its port, in lower case. */
  readonly isHost: (host: string) => boolean;
  /** Absent: nobody needs one. */
  readonly token?: string;
  /** The name of the cookie of the page. */
  readonly cookie: string;
  readonly isSession: (id: string) => boolean;
  /** The rule of a route; the strict one holds where there is none. @param path as it stands in the request line, without the query */
  readonly ruleOf: (method: string, path: string) => Rule | undefined;
}

/** What became of a request. */
export type Verdict<Rule extends RouteRule> =
  | { readonly caller: Caller; readonly rule: Rule | undefined }
  | { readonly refusal: ProblemDetails; readonly rule: Pick<RouteRule, "tellProblem"> | undefined };

/** The largest body there may be where a route says nothing else, in bytes; a text of calls has no bound. */
export const MAX_BODY_BYTES = 10 * 2 ** 20;
/** The same where a file may be in it, in base64. */
export const MAX_FILE_BODY_BYTES = 30 * 2 ** 20;

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "DELETE"];
const ALLOW = METHODS.join(", ");

/** What holds where nothing else was said. */
const STRICT_RULE: RouteRule = { access: "token" };

/** Lets a request in, or says why not. */
export function guard<Rule extends RouteRule>(
  head: RequestHead,
  settings: GuardSettings<Rule>,
): Verdict<Rule> {
  const { headers, method } = head;
  const given = headers.get("host");
  const host = given?.toLowerCase();
  const [, name, path] = /^http:\/\/([^/?#]*)(\/[^?#]*)/.exec(maybeUrl(head) ?? "") ?? [];
  if (host === undefined || !settings.isHost(host)) {
    // Of a request that is not for this server nothing is that of a route, but how clients of the API are told a problem.
    const rule = path?.startsWith("/v1/") && isReadable(path) ? settings.ruleOf(method, path) : undefined;
    const refusal = refusalOf(
      421,
      "host",
      `found Host ${shown(given)}, expected the name and port of this server`,
    );
    return { refusal, rule };
  }
  if (path === undefined || name?.toLowerCase() !== host) {
    const detail = `found a request target that is not of ${host}, expected a path such as /v1/runs`;
    return { refusal: refusalOf(400, "target", detail), rule: undefined };
  }
  if (!isReadable(path)) {
    const detail =
      "found percent signs in the path that mean no text, expected UTF-8 without control characters";
    return { refusal: refusalOf(400, "path", detail), rule: undefined };
  }
  const rule = settings.ruleOf(method, path);
  const origin = headers.get("origin");
  const caller = callerOf(headers, settings);
  const refusal = foreign(headers, { origin, host }) ?? unknownMethod(method) ??
    unknownCaller(caller, rule ?? STRICT_RULE) ??
    (method === "GET" || method === "HEAD"
      ? undefined
      : wrongBody(headers, { caller, origin, rule: rule ?? STRICT_RULE }));
  return refusal === undefined ? { caller, rule } : { refusal, rule };
}

function maybeUrl(head: RequestHead): string | undefined {
  try {
    return head.url;
  } catch {
    return undefined; // the Host makes no URL
  }
}

function isReadable(path: string): boolean {
  try {
    return !path.includes("%") || !hasControl(decodeURIComponent(path));
  } catch {
    return false;
  }
}

/** A page of another origin asks, or a page that hides its own. */
function foreign(
  headers: RequestHead["headers"],
  { origin, host }: { readonly origin: string | null; readonly host: string },
): ProblemDetails | undefined {
  if (origin !== null && origin !== `http://${host}`) {
    return refusalOf(403, "origin", `found Origin ${shown(origin)}, expected none, or http://${host}`);
  }
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return undefined;
  return refusalOf(
    403,
    "origin",
    `found Sec-Fetch-Site ${shown(site)}, expected same-origin: no other page may ask`,
  );
}

function unknownMethod(method: string): ProblemDetails | undefined {
  if (METHODS.includes(method)) return undefined;
  const detail = `found the method ${shown(method)}, expected one of ${ALLOW}`;
  return refusalOf(405, "method", detail, { allow: ALLOW });
}

function callerOf(
  headers: RequestHead["headers"],
  { token, cookie, isSession }: Omit<GuardSettings, "ruleOf">,
): Caller {
  if (token === undefined) return "anybody";
  const authorization = headers.get("authorization");
  if (authorization !== null) return isBearer(authorization, token) ? "token" : "nobody";
  const cookies = headers.get("cookie");
  if (cookies === null) return "nobody";
  return cookiesOf(cookies, cookie).some(isSession) ? "page" : "nobody";
}

function isBearer(authorization: string, token: string): boolean {
  const [, given] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  return given !== undefined && isSameText(given, token);
}

/** Takes as long whatever is given: nothing can be learnt of the secret from how soon it is refused. */
export function isSameText(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let at = 0; at < secret.length; at++) {
    difference |= given.charCodeAt(at % Math.max(1, given.length)) ^ secret.charCodeAt(at);
  }
  return difference === 0;
}

/** All values of one name: a browser may hold one for another path. */
function cookiesOf(header: string, name: string): readonly string[] {
  return header.split(";").map((pair) => pair.trim()).filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

function unknownCaller(caller: Caller, { access }: RouteRule): ProblemDetails | undefined {
  const isAllowed = access === "open" || caller === "token" || caller === "anybody" ||
    (access === "token" && caller === "page");
  if (isAllowed) return undefined;
  const expected = access === "bearer"
    ? "expected Authorization: Bearer TOKEN; this route takes no cookie"
    : "expected Authorization: Bearer TOKEN with the token that orrery serve has printed, or the cookie of its one-time link";
  return refusalOf(401, "token", expected, { "www-authenticate": 'Bearer realm="orrery"' });
}

/** What a body may be sent as. */
export const BODY_TYPES: { readonly [accepts in Accepts]: readonly [string, ...string[]] } = {
  json: ["application/json"],
  form: ["application/x-www-form-urlencoded"],
  calls: ["text/plain", "application/x-orrery-calls"],
};

function wrongBody(
  headers: RequestHead["headers"],
  { caller, origin, rule: { accepts = "json", maxBytes = MAX_BODY_BYTES } }: {
    readonly caller: Caller;
    readonly origin: string | null;
    readonly rule: RouteRule;
  },
): ProblemDetails | undefined {
  if (caller === "page" && origin === null) {
    return refusalOf(
      403,
      "origin",
      "found no Origin, expected that of this server: the cookie alone changes nothing",
    );
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    return refusalOf(
      415,
      "content-encoding",
      `found Content-Encoding ${shown(encoding)}, expected the body as it is`,
    );
  }
  const length = headers.get("content-length");
  const isChunked = headers.get("transfer-encoding") !== null;
  const given = headers.get("content-type");
  const isEmpty = !isChunked && (length === null || length === "0");
  const [type = "", ...parameters] = (given ?? "").toLowerCase().split(";").map((part) => part.trim());
  const isUtf8 = parameters.every((parameter) => parameter === "" || /^charset="?utf-8"?$/.test(parameter));
  const expected = BODY_TYPES[accepts];
  if (!(given === null && isEmpty && accepts === "json") && !(expected.includes(type) && isUtf8)) {
    return refusalOf(
      415,
      "content-type",
      `found Content-Type ${shown(given)}, expected ${expected.join(" or ")}, in UTF-8`,
    );
  }
  if (length === null) return undefined;
  if (isChunked) {
    const detail = "found Content-Length and Transfer-Encoding, expected one of them";
    return refusalOf(400, "length", detail, CLOSE);
  }
  if (!/^\d{1,15}$/.test(length)) {
    return refusalOf(400, "length", `found Content-Length ${shown(length)}, expected a number`, CLOSE);
  }
  return accepts === "calls" || Number(length) <= maxBytes ? undefined : tooLarge(maxBytes);
}

/** For an answer whose request is not read to its end. */
export const CLOSE = { connection: "close" } as const;

function refusalOf(
  status: number,
  code: string,
  detail: string,
  headers?: ProblemDetails["headers"],
): ProblemDetails {
  return { status, code, detail, headers };
}

/** The body is larger than it may be. */
export function tooLarge(maxBytes: number): ProblemDetails {
  return refusalOf(
    413,
    "too-large",
    `found a body of more than ${maxBytes} bytes, expected at most that`,
    CLOSE,
  );
}

/** As much of a header as an error may show. */
function shown(value: string | null): string {
  if (value === null || value === "") return "none";
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}

/** Where the server can be reached. */
export interface HostNames {
  /** As it is bound: a name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Further names, with a port of their own or that of the server. */
  readonly names?: readonly string[];
}

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "::1"];
const WILDCARD: readonly string[] = ["0.0.0.0", "::"];

/** Whether an address is this machine's own and nobody else's. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host.toLowerCase()) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Which hosts count. Bound to all addresses, every address does: a page cannot make a browser send an address that is not in its own URL. */
export function createHosts({ host, port, names = [] }: HostNames): GuardSettings["isHost"] {
  const own = new Set<string>();
  const add = (name: string): void => {
    const bracketed = (name.includes(":") && !name.startsWith("[") ? `[${name}]` : name).toLowerCase();
    own.add(`${bracketed}:${port}`);
    if (port === 80) own.add(bracketed); // browsers leave it out
  };
  if (!WILDCARD.includes(host)) add(host);
  if (isLoopback(host)) LOOPBACK.forEach(add);
  for (const name of names) {
    if (/:\d+$/.test(name)) own.add(name.toLowerCase());
    else add(name);
  }
  if (!WILDCARD.includes(host)) return (given) => own.has(given);
  const address = new RegExp(`^(?:localhost|\\d{1,3}(?:\\.\\d{1,3}){3}|\\[[0-9a-f:.]+\\]):${port}$`);
  return (given) => own.has(given) || address.test(given);
}

/**
 * A path below the project root, as it was given. Whether the file is there, and where it really lies, is for the service; this is said of
 * what can never be one, in the same words for every file.
 *
 * @throws {HttpProblem} 403 `outside`
 */
export function insidePath(path: string): string {
  const isOutside = path.split("/").some((part) => part === "" || part === "." || part === "..") ||
    hasControl(path) || path.includes("\\") || DRIVE.test(path) || HIDDEN.test(path);
  if (!isOutside) return path;
  throw new HttpProblem(
    403,
    "outside",
    "found a path that is not one of the project, expected one below its root, with / and without . and ..",
  );
}

/** Whether a control character of ASCII is in it, NUL first of all. */
function hasControl(text: string): boolean {
  return /(?![\u0080-\u009f])\p{Cc}/u.test(text);
}

const DRIVE = /^[A-Za-z]:/;
const HIDDEN = /^\.(?:orrery|git)(?:\/|$)/i;
