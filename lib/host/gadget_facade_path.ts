import { kindOf } from "./gadget_facade_arguments.ts";

const isWindows = Deno.build.os === "windows";
const hrefOf = Object.getOwnPropertyDescriptor(URL.prototype, "href")?.get;

/**
 * A path as it was given: a text, a `file:` URL, or bytes of UTF-8 (as `node:fs` takes them). Anything else is refused and not turned into
 * a text, since it could be another one the next time.
 *
 * @throws {TypeError} what was found, and what a path is
 */
export function pathOf(value: unknown): string {
  const path = value instanceof URL
    ? pathOfUrl(value)
    : value instanceof Uint8Array
    ? new TextDecoder("utf-8", { fatal: true }).decode(value)
    : value;
  if (typeof path !== "string") {
    throw new TypeError(`expected a path: a text or a file: URL, found ${kindOf(value)}`);
  }
  if (path === "") throw new TypeError("expected a path, found an empty text");
  if (path.includes("\0")) {
    throw new TypeError(`expected a path, found a NUL character in ${JSON.stringify(path.slice(0, 200))}`);
  }
  return path;
}

/** The path that a `file:` URL names. @throws {TypeError} */
export function pathOfUrl(url: URL): string {
  const href: unknown = hrefOf === undefined ? undefined : Reflect.apply(hrefOf, url, []);
  if (typeof href !== "string") throw new TypeError("expected a URL");
  // Read from the text: the properties of this object may be anything.
  const { protocol, hostname, pathname } = new URL(href);
  if (protocol !== "file:") throw new TypeError(`expected a file: URL, found "${protocol}"`);
  if (hostname !== "" && !isWindows) {
    throw new TypeError(`expected a file: URL without a host, found the host "${hostname}"`);
  }
  if (/%2f/i.test(pathname) || (isWindows && /%5c/i.test(pathname))) {
    throw new TypeError("expected a file: URL without encoded separators (%2F)");
  }
  const path = decodeURIComponent(pathname);
  if (!isWindows) return path;
  const local = path.replace(/^\/([A-Za-z]:)/, "$1").replaceAll("/", "\\");
  return hostname === "" ? local : `\\\\${hostname}${local}`;
}
