// Files that a model is shown: pictures and papers as they are, text as text. Every door reads them with `shownFile`, and what a model
// does not take is refused by `refuseUntaken` before it is asked.
import { isRecord } from "./json.ts";
import { type ContentPart, type Message, type Model, ModelError } from "./model.ts";
import { sha256 } from "./sha256.ts";

/** A picture, a paper or the like. */
export type MediaPart = Extract<ContentPart, { readonly type: "media" }>;

/** The same without its bytes, as a journal keeps it where they stand elsewhere. */
export interface MediaNote extends Omit<MediaPart, "data"> {
  /** Bytes. */
  readonly size: number;
  /** Of its base64. */
  readonly sha256: string;
}

/** What somebody says: text, or text with media behind it. */
export type Words = string | readonly ContentPart[];

/** Bytes of one file that a model is shown (documents.md 14). */
export const MAX_MEDIA_BYTES = 20 * 1024 * 1024;

/** What is said of a larger one, behind its name. */
export const TOO_LARGE_MEDIA = "is larger than 20 MB";

/** What media there are, for messages. */
export const MEDIA_KINDS = "png, jpeg, gif, webp or pdf";

interface MediaKind {
  readonly type: string;
  readonly endings: RegExp;
  /** How its bytes begin, read as Latin-1. */
  readonly magic: RegExp;
}

const KINDS: readonly MediaKind[] = [
  { type: "image/png", endings: /\.png$/i, magic: /^\x89PNG/ },
  { type: "image/jpeg", endings: /\.jpe?g$/i, magic: /^\xff\xd8\xff/ },
  { type: "image/gif", endings: /\.gif$/i, magic: /^GIF8/ },
  { type: "image/webp", endings: /\.webp$/i, magic: /^RIFF[^]{4}WEBP/ },
  { type: "application/pdf", endings: /\.pdf$/i, magic: /^%PDF-/ },
];

/** What the ending of a name says; undefined where it says nothing of media. */
export function mediaTypeOf(name: string): string | undefined {
  return KINDS.find(({ endings }) => endings.test(name))?.type;
}

/**
 * A file as a part of a message: what it is its bytes say, whatever its name is; only that a picture is no text is said by its name.
 *
 * @param file.type what somebody says that it is: it counts for bytes that are neither text nor media that are known here
 * @returns the part, or why there is none, to be said behind its name
 */
export function shownFile(
  bytes: Uint8Array,
  { name, type }: { readonly name?: string; readonly type?: string },
): { readonly part: ContentPart } | { readonly problem: string } {
  if (bytes.length > MAX_MEDIA_BYTES) return { problem: TOO_LARGE_MEDIA };
  if (bytes.length === 0) return { problem: "is empty" };
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  const known = KINDS.find(({ magic }) => magic.test(start))?.type;
  const text = known === undefined ? maybeText(bytes) : undefined;
  const mediaType = known ?? (text === undefined ? type : undefined);
  if (mediaType !== undefined) {
    return {
      part: { type: "media", mediaType, data: bytes.toBase64(), ...(name !== undefined && { name }) },
    };
  }
  if (text === undefined) {
    const digits = bytes.subarray(0, 4).toHex().replace(/..(?=.)/g, "$& ");
    return { problem: `is neither text in UTF-8 nor ${MEDIA_KINDS}: its bytes begin with ${digits}` };
  }
  const named = mediaTypeOf(name ?? "");
  if (named !== undefined) return { problem: `is text, and its name says ${named}` };
  const marked = between(text, "file", name === undefined ? "" : ` name=${JSON.stringify(name)}`);
  return { part: { type: "text", text: marked } };
}

/** The same of base64. */
export function shownBase64(
  data: string,
  about: Parameters<typeof shownFile>[1],
): ReturnType<typeof shownFile> {
  try {
    return shownFile(Uint8Array.fromBase64(data), about);
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: "is no base64" };
    throw error;
  }
}

/** Undefined for what is none. */
function maybeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A text between marks that do not occur in it. @param more what the first one says besides its word */
export function between(text: string, word: string, more = ""): string {
  for (let n = 1;; n++) {
    const mark = n === 1 ? word : `${word}-${n}`;
    if (!text.includes(`</${mark}>`)) {
      return `<${mark}${more}>\n${text}${text.endsWith("\n") ? "" : "\n"}</${mark}>`;
    }
  }
}

/** What is said with files: those of text become a part of it, which every model takes; media stand behind it. */
export function wordsWith(said: string, files: readonly ContentPart[] = []): Words {
  const texts = files.flatMap((file) => file.type === "text" ? [file.text] : []);
  const text = [said, ...texts].filter((each) => each !== "").join("\n\n");
  const media = files.filter((file) => file.type === "media");
  if (media.length === 0) return text;
  return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...media];
}

/** The two parts of what was said. */
export function splitWords(words: Words): { readonly text: string; readonly media?: readonly MediaPart[] } {
  if (typeof words === "string") return { text: words };
  const text = words.map((part) => part.type === "text" ? part.text : "").join("");
  const media = words.filter((part) => part.type === "media");
  return media.length === 0 ? { text } : { text, media };
}

/** Words that were kept; undefined for what is none. */
export function wordsFrom(kept: unknown): Words | undefined {
  if (typeof kept === "string") return kept;
  return Array.isArray(kept) && kept.every(isPart) ? kept : undefined;
}

/** Media that were kept; what is none is left out. */
export function mediaFrom(kept: unknown): readonly MediaPart[] {
  return Array.isArray(kept) ? kept.filter(isMedia) : [];
}

function isPart(kept: unknown): kept is ContentPart {
  return isMedia(kept) || isRecord(kept) && kept.type === "text" && typeof kept.text === "string";
}

function isMedia(kept: unknown): kept is MediaPart {
  return isRecord(kept) && kept.type === "media" && typeof kept.mediaType === "string" &&
    typeof kept.data === "string";
}

/** @throws {ModelError} `config`, where a model is to be shown what it does not take */
export function refuseUntaken(model: Model, messages: readonly Message[]): void {
  const problem = untaken(model, messages);
  if (problem !== undefined) throw new ModelError(problem, { code: "config" });
}

/** Why a model cannot be asked, where it is to be shown what it does not take: names the model, the file, its type, and what to do. */
export function untaken({ id, media }: Model, messages: readonly Message[]): string | undefined {
  if (media === undefined) return undefined;
  for (const { content } of messages) {
    const found = mediaFrom(content).find(({ mediaType }) => !media.some((taken) => fits(mediaType, taken)));
    if (found === undefined) continue;
    const { name, mediaType } = found;
    const what = name === undefined ? mediaType : `${JSON.stringify(name)} (${mediaType})`;
    const takes = media.length === 0 ? "takes text alone" : `takes text, ${media.join(", ")}`;
    const [provider] = id.split("/");
    return `The model ${id} cannot be shown ${what}: it ${takes}. Ask another model, or leave the file out; where it can take it, ` +
      `models.providers.${provider}.media of orrery.yaml says so`;
  }
  return undefined;
}

function fits(mediaType: string, pattern: string): boolean {
  return pattern === mediaType || pattern.endsWith("/*") && mediaType.startsWith(pattern.slice(0, -1));
}

/**
 * A value with what it holds of media named instead: a step whose input has a picture is known by its hash, and a trace shows what it was.
 * The same value where there are none.
 */
export function withoutMedia<Value>(value: Value): Value;
export function withoutMedia(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map(withoutMedia);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isRecord(value)) return value;
  if (isMedia(value)) return noteOf(value);
  const entries = Object.entries(value).map(([key, each]) => [key, withoutMedia(each)] as const);
  return entries.every(([key, each]) => each === value[key]) ? value : Object.fromEntries(entries);
}

const notes = new WeakMap<MediaPart, MediaNote>();

/** What is kept of it elsewhere; it is hashed once. */
export function noteOf(part: MediaPart): MediaNote {
  const { data, ...about } = part;
  const note = notes.get(part) ??
    { ...about, size: Math.floor(data.replace(/=+$/, "").length * 3 / 4), sha256: sha256(data) };
  notes.set(part, note);
  return note;
}
