// Paths as `file:` URLs and back, in place of node:url, which costs 7 to 12 ms of start-up on Deno 2.9. The tests hold it to node:url, for
// POSIX and for Windows.
import { system } from "./path.ts";

/** Both ways, for one kind of system. */
export interface FileUrls {
  /** @param path absolute; a separator at its end stays */
  fileUrl(path: string): URL;
  /** @throws {TypeError} for a URL that is no path of this system */
  filePath(url: string | URL): string;
}

/** The functions for one kind of system. */
export function fileUrlsOf(system: "posix" | "windows"): FileUrls {
  return system === "windows" ? WINDOWS : POSIX;
}

const POSIX: FileUrls = {
  fileUrl: (path) => withPath(path.replaceAll("%", "%25").replaceAll("\\", "%5C")),
  filePath(url) {
    const { hostname, pathname } = fileUrlOf(url);
    if (hostname !== "") throw notPath(url, `it names the host "${hostname}"`);
    if (/%2f/i.test(pathname)) throw notPath(url, "a name in it has a slash (%2F)");
    return decodeURIComponent(pathname);
  },
};

const SHARE = /^\\\\([^\\]+)(\\.*)$/s;

const WINDOWS: FileUrls = {
  fileUrl(path) {
    const written = path.replaceAll("/", "\\").replaceAll("%", "%25");
    const [, host, rest] = SHARE.exec(written) ?? [];
    const url = withPath((rest ?? `/${written}`).replaceAll("\\", "/"));
    if (host !== undefined) url.hostname = host;
    return url;
  },
  filePath(url) {
    const { hostname, pathname } = fileUrlOf(url);
    if (/%2f|%5c/i.test(pathname)) throw notPath(url, "a name in it has a separator (%2F or %5C)");
    const path = decodeURIComponent(pathname).replaceAll("/", "\\");
    if (hostname !== "") return `\\\\${hostname}${path}`;
    if (!/^\\[A-Za-z]:/.test(path)) throw notPath(url, "it names no drive");
    return path.slice(1);
  },
};

/** `file:` in front. What a URL would take for its own, or for a drive, is escaped, and so are the blanks that it drops. */
function withPath(path: string): URL {
  const url = new URL("file:///");
  url.pathname = path.replace(/[\n\r\t?#|]/g, encodeURIComponent).replace(/ $/, "%20");
  return url;
}

function fileUrlOf(given: string | URL): URL {
  const url = new URL(given);
  if (url.protocol !== "file:") throw notPath(given, `it begins with "${url.protocol}"`);
  return url;
}

function notPath(url: string | URL, found: string): TypeError {
  return new TypeError(`Expected the file: URL of a path, found ${JSON.stringify(String(url))}: ${found}`);
}

/** The functions for the system that this runs on. */
export const { fileUrl, filePath }: FileUrls = fileUrlsOf(system);
