// Stacks as a gadget sees them: without the functions of the host, which would tell where Orrery is. In the text of a stack nothing else
// could take them out again, however the gadget cuts it up.

import { apply, getProperty, partOf, startOf, toText } from "./primordials.ts";

const MOST_HEADER = 16_384;

const { toString: errorText } = Error.prototype;
const { lastIndexOf, startsWith } = String.prototype;
/** Where the host's own modules are, and those that they import; in a bundle all of them are in the folder of this one. */
const OWN_FOLDER = new URL("./", import.meta.url).href;
const CORE_FOLDER = new URL("../../core/", import.meta.url).href;
/** What the process was started with. */
const OWN_ENTRY = Deno.mainModule;

/**
 * Makes the text of every stack from now on. A gadget can set `Error.prepareStackTrace` to what it likes: it is not asked, since it would
 * see the functions of the runtime that called it. Libraries that set it get text.
 */
export function hardenStacks(): void {
  const told = siteReader();
  const prepare = (error: unknown, sites: ArrayLike<unknown>): string => {
    let text = headerOf(error);
    for (let at = 0; at < sites.length; at++) {
      const frame = told(sites[at]);
      if (frame !== undefined) text += `\n    at ${frame}`;
    }
    return text;
  };
  Object.defineProperty(Error, "prepareStackTrace", {
    get: () => prepare,
    set: () => undefined,
    configurable: false,
  });
}

/** Tells a frame as the runtime itself does, those of the host not at all. Its functions hang on nothing that could be reached otherwise. */
function siteReader(): (site: unknown) => string | undefined {
  const site = anySite();
  const textOf = methodOf(site, "toString");
  const fileOf = methodOf(site, "getFileName");
  const urlOf = methodOf(site, "getScriptNameOrSourceURL");
  return (site) => {
    const url = toText(apply(urlOf, site, []));
    if (isOwn(url)) return undefined;
    const text = toText(apply(textOf, site, []));
    const file = toText(apply(fileOf, site, []));
    // Whoever makes the text of stacks himself is told paths, everybody else URLs.
    const at = file === url || file === "" ? -1 : apply(lastIndexOf, text, [`${file}:`]);
    return at < 0 ? text : partOf(text, 0, at) + url + partOf(text, at + file.length);
  };
}

function isOwn(url: string): boolean {
  return url === OWN_ENTRY || apply(startsWith, url, [OWN_FOLDER]) || apply(startsWith, url, [CORE_FOLDER]);
}

function anySite(): object {
  let site: object | undefined;
  Object.defineProperty(Error, "prepareStackTrace", {
    value: (_error: unknown, sites: readonly object[]) => {
      site = sites[0];
      return "";
    },
    configurable: true,
  });
  toText(new Error().stack); // made when it is first looked at
  if (site === undefined) throw new TypeError("the runtime tells no frames of a stack");
  return site;
}

function methodOf(site: object, name: string): (...input: readonly unknown[]) => unknown {
  const method: unknown = getProperty(site, name);
  if (isFunction(method)) return method;
  throw new TypeError(`a frame of a stack has no ${name}`);
}

/** Places are worth more than the end of a long message, which is told besides. */
function headerOf(error: unknown): string {
  try {
    const text = toText(apply(errorText, error, []));
    return text.length <= MOST_HEADER ? text : `${startOf(text, MOST_HEADER)}…`;
  } catch {
    return "Error"; // its name or message has a getter that throws
  }
}

function isFunction(value: unknown): value is (...input: readonly unknown[]) => unknown {
  return typeof value === "function";
}
