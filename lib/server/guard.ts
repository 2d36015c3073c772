// Who may ask anything at all. It stands in front of every route, looks at the head of a request and at nothing else, and is pure: a test
// asks it about heads that no client would send. It is a plain function because as middleware it costs ten times as much.
import { HttpProblem, type ProblemDetails } from "./problem.ts";
import {
  type Accepts,
  type Access,
  type Method,
  pathPattern,
  type Route,
  type TellProblem,
} from "./route.ts";

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
  readonly accepts: Accepts;
  readonly tellProblem?: TellProblem;
}

/** What the guard goes by. */
export interface GuardSettings {
  /** Whether this is a name of ours, with its port, in lower case. */
  readonly isHost: (host: string) => boolean;
  /** Absent: nobody needs one. */
  readonly token?: string;
  /** The name of the cookie of the page. */
  readonly cookie: string;
  readonly isSession: (id: string) => boolean;
  /** @param path as it stands in the request line, without the query */
  readonly ruleOf: (method: string, path: string) => RouteRule;
}

/** What became of a request. */
export type Verdict =
  | { readonly caller: Caller; readonly rule: RouteRule }
  | { readonly refusal: ProblemDetails; readonly rule: RouteRule };

/** The largest body there may be, in bytes; a text of calls has no bound. */
export const MAX_BODY_BYTES = 10 * 2 ** 20;

const METHODS: ReadonlySet<string> = new Set<Method | "HEAD">(["GET", "HEAD", "POST", "DELETE"]);
const ALLOW = [...METHODS].join(", ");

/** What holds where nothing else was said. */
export const STRICT_RULE: RouteRule = { access: "token", accepts: "json" };

/** Lets a request in, or says why not. */
export function guard(head: RequestHead, settings: GuardSettings): Verdict {
  const { headers, method } = head;
  const given = headers.get("host");
  const host = given !== null && settings.isHost(given) ? given : given?.toLowerCase();
  if (host === undefined || !settings.isHost(host)) {
    return refused(
      toldAs(head, settings),
      421,
      "host",
      `found Host ${shown(given)}, expected the name and port of this server`,
    );
  }
  const path = pathOf(head, host);
  if (path === undefined) {
    return refused(
      STRICT_RULE,
      400,
      "target",
      `found a request target that is not of ${host}, expected a path such as /v1/runs`,
    );
  }
  if (path.includes("%") && !isReadable(path)) {
    return refused(
      STRICT_RULE,
      400,
      "path",
      "found percent signs in the path that mean no text, expected UTF-8 without control characters",
    );
  }
  const rule = settings.ruleOf(method, path);
  const origin = headers.get("origin");
  const wrong = foreign(headers, { origin, host }) ?? unknownMethod(method);
  if (wrong !== undefined) return { refusal: wrong, rule };
  const caller = callerOf(headers, settings);
  const refusal = unknownCaller(caller, rule) ??
    (isReading(method) ? undefined : wrongBody(headers, { caller, origin, rule }));
  return refusal === undefined ? { caller, rule } : { refusal, rule };
}

/** Of a request that is not for this server nothing is that of a route, but how clients of the API are told a problem. */
function toldAs(head: RequestHead, { ruleOf }: GuardSettings): RouteRule {
  const path = /^http:\/\/[^/?#]*(\/v1\/[^?#]*)/.exec(maybeUrl(head) ?? "")?.[1];
  const { tellProblem } = path === undefined ? STRICT_RULE : ruleOf(head.method, path);
  return tellProblem === undefined ? STRICT_RULE : { ...STRICT_RULE, tellProblem };
}

function maybeUrl(head: RequestHead): string | undefined {
  try {
    return head.url;
  } catch {
    return undefined; // the Host makes no URL
  }
}

/** The path of the target, when it is one of this server; undefined for all others, and where the URL cannot be made. */
function pathOf(head: RequestHead, host: string): string | undefined {
  const url = maybeUrl(head);
  if (url === undefined) return undefined;
  const start = "http://".length + host.length;
  if (!url.startsWith("http://") || url.charCodeAt(start) !== SLASH) return undefined;
  const isOurs = url.startsWith(host, "http://".length) ||
    url.slice("http://".length, start).toLowerCase() === host;
  return isOurs ? url.slice(start, endOfPath(url, start)) : undefined;
}

const SLASH = 0x2f;

function endOfPath(url: string, start: number): number {
  const query = url.indexOf("?", start);
  const fragment = url.indexOf("#", start);
  if (query < 0) return fragment < 0 ? url.length : fragment;
  return fragment < 0 ? query : Math.min(query, fragment);
}

function isReadable(path: string): boolean {
  try {
    return !hasControl(decodeURIComponent(path));
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
  if (METHODS.has(method)) return undefined;
  return {
    ...refusalOf(405, "method", `found the method ${shown(method)}, expected one of ${ALLOW}`),
    headers: { allow: ALLOW },
  };
}

function callerOf(headers: RequestHead["headers"], { token, cookie, isSession }: GuardSettings): Caller {
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
  if (isAllowed(caller, access)) return undefined;
  const expected = access === "bearer"
    ? "expected Authorization: Bearer TOKEN; this route takes no cookie"
    : "expected Authorization: Bearer TOKEN with the token that orrery serve has printed, or the cookie of its one-time link";
  return { ...refusalOf(401, "token", expected), headers: { "www-authenticate": 'Bearer realm="orrery"' } };
}

/** Whether one who asks may use a route. */
export function isAllowed(caller: Caller, access: Access): boolean {
  if (access === "open" || caller === "token" || caller === "anybody") return true;
  return access === "token" && caller === "page";
}

function wrongBody(
  headers: RequestHead["headers"],
  { caller, origin, rule }: {
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
  const length = headers.get("content-length");
  const isChunked = headers.get("transfer-encoding") !== null;
  return wrongType(headers, { rule, isEmpty: !isChunked && (length === null || length === "0") }) ??
    wrongLength({ length, isChunked, rule });
}

/** What a text of calls is sent as. */
const CALL_TYPES: readonly string[] = ["text/plain", "application/x-orrery-calls"];

const TYPES: { readonly [accepts in Accepts]: readonly string[] } = {
  json: ["application/json"],
  form: ["application/x-www-form-urlencoded"],
  calls: CALL_TYPES,
};

function wrongType(
  headers: RequestHead["headers"],
  { rule, isEmpty }: { readonly rule: RouteRule; readonly isEmpty: boolean },
): ProblemDetails | undefined {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    return refusalOf(
      415,
      "content-encoding",
      `found Content-Encoding ${shown(encoding)}, expected the body as it is`,
    );
  }
  const given = headers.get("content-type");
  if (given === "application/json" && rule.accepts === "json") return undefined;
  if (given === null && isEmpty && rule.accepts === "json") return undefined;
  const [type = "", ...parameters] = (given ?? "").toLowerCase().split(";").map((part) => part.trim());
  const isUtf8 = parameters.every((parameter) => parameter === "" || /^charset="?utf-8"?$/.test(parameter));
  const expected = TYPES[rule.accepts];
  if (expected.includes(type) && isUtf8) return undefined;
  return refusalOf(
    415,
    "content-type",
    `found Content-Type ${shown(given)}, expected ${expected.join(" or ")}, in UTF-8`,
  );
}

function wrongLength(
  { length, isChunked, rule }: {
    readonly length: string | null;
    readonly isChunked: boolean;
    readonly rule: RouteRule;
  },
): ProblemDetails | undefined {
  if (length === null) return undefined;
  if (isChunked) {
    return closing(
      refusalOf(400, "length", "found Content-Length and Transfer-Encoding, expected one of them"),
    );
  }
  if (!/^\d{1,15}$/.test(length)) {
    return closing(refusalOf(400, "length", `found Content-Length ${shown(length)}, expected a number`));
  }
  if (rule.accepts === "calls" || Number(length) <= MAX_BODY_BYTES) return undefined;
  return closing(tooLarge());
}

/** The body is larger than any may be. */
export function tooLarge(): ProblemDetails {
  return refusalOf(
    413,
    "too-large",
    `found a body of more than ${MAX_BODY_BYTES} bytes, expected at most that`,
  );
}

function closing(details: ProblemDetails): ProblemDetails {
  return { ...details, headers: { connection: "close" } };
}

function refused(rule: RouteRule, status: number, code: string, detail: string): Verdict {
  return { refusal: refusalOf(status, code, detail), rule };
}

function refusalOf(status: number, code: string, detail: string): ProblemDetails {
  return { status, code, detail };
}

function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** As much of a header as an error may show. */
function shown(value: string | null): string {
  if (value === null || value === "") return "none";
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}

/** The rule of each request, from the table of routes. Most of them have the strict one. */
export function createRules(routes: readonly Route[]): GuardSettings["ruleOf"] {
  const exact = new Map<string, RouteRule>();
  const patterns: { readonly method: string; readonly pattern: RegExp; readonly rule: RouteRule }[] = [];
  for (const { method, path, access, accepts = "json", tellProblem } of routes) {
    const rule: RouteRule = { access, accepts, tellProblem };
    if (!path.includes("{")) exact.set(`${method} ${path}`, rule);
    else if (access !== "token" || accepts !== "json" || tellProblem !== undefined) {
      patterns.push({ method, pattern: pathPattern(path), rule });
    }
  }
  return (method, path) => {
    const asked = method === "HEAD" ? "GET" : method;
    return exact.get(`${asked} ${path}`) ??
      patterns.find((each) => each.method === asked && each.pattern.test(path))?.rule ?? STRICT_RULE;
  };
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
  const isWild = WILDCARD.includes(host);
  return (given) => own.has(given) || (isWild && isAddressAt(given, port));
}

/** Whether a Host is an address, with the port of ours. */
function isAddressAt(given: string, port: number): boolean {
  const end = `:${port}`;
  if (!given.endsWith(end)) return false;
  const name = given.slice(0, -end.length);
  return name === "localhost" || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name) || /^\[[0-9a-f:.]+\]$/.test(name);
}

/**
 * A path below the project root, as it was given. Whether the file is there, and where it really lies, is for the service; this is said of
 * what can never be one, in the same words for every file.
 *
 * @throws {HttpProblem} 403 `outside`
 */
export function insidePath(path: string): string {
  const parts = path.split("/");
  const isOutside = parts.some((part) => part === "" || part === "." || part === "..") ||
    hasControl(path) ||
    path.includes("\\") || DRIVE.test(path) || HIDDEN.test(path);
  if (isOutside) throw outside();
  return path;
}

/** Whether a control character is in it, NUL first of all. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

const DRIVE = /^[A-Za-z]:/;
const HIDDEN = /^\.(?:orrery|git)(?:\/|$)/i;

function outside(): HttpProblem {
  return new HttpProblem(
    403,
    "outside",
    "found a path that is not one of the project, expected one below its root, with / and without . and ..",
  );
}
