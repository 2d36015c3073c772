import { CrashError, ResultError, SourceError, type ThrownError } from "../../core/core.ts";
import type { GadgetProcessEnd } from "../../host/commands/gadget_process.ts";

/** The process of a gadget is not there any more, or never was; the message says why and what to do. */
export class GadgetProcessError extends CrashError {
  override readonly name = "GadgetProcessError";
}

/** The process was gone before anything of the call was sent to it: it can be made in another one. */
export class UnsentError extends GadgetProcessError {}

/** What a gadget threw, with places in its own source. */
export class GadgetThrown extends Error {
  override readonly name: string;
  /** Whether it is told where it was thrown. */
  readonly hasStack: boolean;

  constructor({ name, message, stack }: Pick<ThrownError, "name" | "message" | "stack">) {
    super(message);
    this.name = name;
    this.hasStack = stack !== undefined;
    this.stack = stack ?? `${name}: ${message}`; // never where it was made, which is a file of Orrery's
  }
}

/** As long as the words of an error are kept. */
const MOST_CHARACTERS = 64 * 1024;
const MOST_LAST_WORDS = 300;

/** Where the prepared modules are, and how places in them become places of the source. */
export interface SourcePlaces {
  /** `file:` URL of a folder whose name is like no other. */
  readonly folderUrl: string;
  mapStack(stack: string): string;
}

/** What was thrown in the process, as it is thrown here. */
export function thrownInGadget(error: ThrownError, places: SourcePlaces): Error {
  const message = placedText(shortened(error.message), places);
  if (error.name === "ResultError") return new ResultError(message);
  const stack = error.stack === undefined ? undefined : mapped(shortened(error.stack), places);
  const name = placedText(shortened(error.name), places);
  return new GadgetThrown({ name, message, stack });
}

/** A text of the gadget's; where it names prepared modules, it names their sources instead. */
export function placedText(text: string, places: SourcePlaces): string {
  const folder = /([^/]+)\/?$/.exec(places.folderUrl)?.[1];
  return folder !== undefined && text.includes(folder) ? mapped(text, places) : text;
}

/** A text with places of prepared modules, as one with places of the source; a text that is no stack is left as it is. */
function mapped(stack: string, { mapStack }: SourcePlaces): string {
  try {
    return mapStack(stack);
  } catch {
    return stack;
  }
}

/** Where in its source something is wrong or was thrown, as `file:line:column`; undefined when that is not told. */
export function thrownPlace(thrown: unknown): string | undefined {
  if (thrown instanceof SourceError && thrown.span?.file !== undefined) return thrown.place;
  if (!(thrown instanceof GadgetThrown)) return undefined;
  const found = /^ +at (?:[^\n]{0,500}\(([^\n(]{1,500}:\d+:\d+)\)|(?:async )?([^\n(]{1,500}:\d+:\d+))$/m.exec(
    thrown.stack ?? "",
  );
  return found?.[1] ?? found?.[2];
}

function shortened(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  const missing = text.length - MOST_CHARACTERS;
  return `${text.slice(0, MOST_CHARACTERS)}\n[cut: ${missing} characters of this error are missing]`;
}

/** Why a process ended by itself, in words. */
export function endWords(end: GadgetProcessEnd, memoryBytes: number): string {
  if (/Fatal (JavaScript|process) (invalid size error|out of memory)|OOM error/.test(end.stderr)) {
    return `ran out of memory: ${memoryWords(memoryBytes)}`;
  }
  const how = end.signal === undefined ? `with exit code ${end.exitCode}` : `by the signal ${end.signal}`;
  const said = lastWords(end.stderr);
  return `ended ${how}${said === "" ? "" : `; it said: ${said}`}`;
}

/** How much a gadget may take, and what to do. */
export function memoryWords(memoryBytes: number): string {
  const size = `${Math.round(memoryBytes / 1024 / 1024)} MiB`;
  return `a gadget may take ${size}; raise limits.gadget-memory-mb, or keep less at a time`;
}

/** Not those of a URL, which says where something is for everybody. */
const FOLDERS =
  /(?<![\w.:/\\-])(?:file:\/\/|[A-Za-z]:(?=[\\/]))?(?:[\\/][^\s\\/:()"'<>]{1,255})*[\\/](?=[^\s\\/])/g;

/** Without what a terminal would obey, and without where Orrery and its temporary files are: of a path the name of the file. */
function lastWords(stderr: string): string {
  const text = stderr.replaceAll(/\p{Cc}+/gu, " ").replaceAll(FOLDERS, "").trim();
  return text.length <= MOST_LAST_WORDS ? text : `\u2026${text.slice(-MOST_LAST_WORDS)}`;
}
