// What Orrery needs of paths, in place of node:path: the first `node:` module costs 6 ms of start-up on Deno 2.9. The tests hold it
// to node:path, for POSIX and for Windows.

/** Functions on paths as text; nothing is looked up. */
export interface Paths {
  /** `/`, or `\` on Windows. */
  readonly sep: string;
  isAbsolute(path: string): boolean;
  /** The parts behind each other, without `.`, `..` and doubled separators as far as they can be resolved. */
  join(...parts: readonly string[]): string;
  /** The path seen from `base`, which is absolute; no separator at its end. */
  resolve(base: string, path: string): string;
  dirname(path: string): string;
  /** The last segment, without `extension` when it ends with that. */
  basename(path: string, extension?: string): string;
  /** With its dot; empty for names that only begin with one. */
  extname(path: string): string;
  /** How to get from one absolute path to another; empty when they are the same. */
  relative(from: string, to: string): string;
}

interface Split {
  /** `C:` or `\\server\share`; empty elsewhere. */
  readonly device: string;
  readonly absolute: boolean;
  readonly segments: readonly string[];
  readonly endsWithSeparator: boolean;
}

/** The functions for one kind of system. */
export function pathsOf(system: "posix" | "windows"): Paths {
  const isWindows = system === "windows";
  const sep = isWindows ? "\\" : "/";
  const segmentsOf = (path: string): readonly string[] =>
    (isWindows ? path.replaceAll(sep, "/") : path).split("/").filter((segment) => segment !== "");
  const isSeparator = (char: string | undefined): boolean => char === "/" || (isWindows && char === "\\");

  function split(path: string): Split {
    const device = isWindows ? deviceOf(path) : "";
    const rest = path.slice(device.length);
    const isShare = device.length > 2;
    const segments = segmentsOf(rest);
    return {
      device: isShare ? `\\\\${segmentsOf(device).join(sep)}` : device,
      absolute: isShare || isSeparator(rest[0]),
      segments,
      endsWithSeparator: segments.length > 0 && isSeparator(rest.at(-1)),
    };
  }

  function rootOf({ device, absolute }: Split): string {
    return device + (absolute ? sep : "");
  }

  /** Nothing of it has to be left out or put in another way, as of nearly every path: then it is its own normal form. */
  function isPlain(path: string): boolean {
    return !isWindows && path !== "" && !/\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(path);
  }

  function normal(path: string): string {
    if (isPlain(path)) return path;
    const parts = split(path);
    const segments = withoutDots(parts.segments, parts.absolute);
    const text = segments.join(sep) + (parts.endsWithSeparator && segments.length > 0 ? sep : "");
    return rootOf(parts) + text || (parts.endsWithSeparator ? `.${sep}` : ".");
  }

  function withoutLead(part: string): string {
    let start = 0;
    while (isSeparator(part[start])) start++;
    return part.slice(start);
  }

  function isAbsolute(path: string): boolean {
    return isWindows ? split(path).absolute : path.startsWith(sep);
  }

  function join(...parts: readonly string[]): string {
    let whole = "";
    for (const part of parts) {
      // One separator between two parts: two at the start would make a share of them on Windows.
      if (whole === "") whole = part;
      else if (part !== "") whole += (isSeparator(whole.at(-1)) ? "" : sep) + withoutLead(part);
    }
    return normal(whole);
  }

  function resolve(base: string, path: string): string {
    if (isPlain(path) && path.startsWith(sep) && !path.endsWith(sep)) return path;
    const there = split(path);
    const whole = there.absolute
      ? (there.device === "" ? split(base).device : "") + path
      : there.device === ""
      ? `${base}${sep}${path}`
      : path;
    const parts = split(whole);
    return rootOf(parts) + withoutDots(parts.segments, true).join(sep);
  }

  function dirname(path: string): string {
    const last = path.lastIndexOf(sep);
    if (last > 0 && last < path.length - 1 && isPlain(path)) return path.slice(0, last);
    const parts = split(path);
    const above = parts.segments.slice(0, -1);
    return rootOf(parts) + above.join(sep) || ".";
  }

  function basename(path: string, extension = ""): string {
    const name = split(path).segments.at(-1) ?? "";
    return extension !== "" && name !== extension && name.endsWith(extension)
      ? name.slice(0, -extension.length)
      : name;
  }

  function extname(path: string): string {
    const name = basename(path);
    const dot = name.lastIndexOf(".");
    return dot <= 0 || name === ".." ? "" : name.slice(dot);
  }

  function relative(from: string, to: string): string {
    const [start, end] = [split(resolve(from, "")), split(resolve(to, ""))];
    const same = (a: string | undefined, b: string | undefined): boolean =>
      a === b || (isWindows && a?.toLowerCase() === b?.toLowerCase());
    if (!same(start.device, end.device)) return resolve(to, "");
    let common = 0;
    while (
      common < start.segments.length && common < end.segments.length &&
      same(start.segments[common], end.segments[common])
    ) common++;
    return [...start.segments.slice(common).map(() => ".."), ...end.segments.slice(common)].join(sep);
  }

  return { sep, isAbsolute, join, resolve, dirname, basename, extname, relative };
}

function deviceOf(path: string): string {
  return /^(?:[A-Za-z]:|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)/.exec(path)?.[0] ?? "";
}

function withoutDots(segments: readonly string[], absolute: boolean): readonly string[] {
  const out: string[] = [];
  for (const segment of segments) {
    if (segment === ".") continue;
    if (segment !== "..") out.push(segment);
    else if (out.length > 0 && out.at(-1) !== "..") out.pop();
    else if (!absolute) out.push("..");
  }
  return out;
}

// This room may not ask Deno, and 2.6 has no navigator.platform; but a file of Windows has a drive in its URL.
export const system: "posix" | "windows" = /^file:\/\/\/[A-Za-z]:/.test(import.meta.url)
  ? "windows"
  : "posix";

export const { sep, isAbsolute, join, resolve, dirname, basename, extname, relative }: Paths = pathsOf(
  system,
);
