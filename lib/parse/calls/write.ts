import { encodeSegment, type JsonObject, objectOrEmpty, toJson } from "../../core/core.ts";
import { isBlank, untypedValue } from "../../schema/text_value.ts";
import { completeMarkers, type Markers, readCallHeader } from "./header.ts";
import { type CallBlock, type CallParserOptions, hasProto } from "./calls.ts";
import { readArgumentPointer } from "./parameter_tree.ts";

/** What `writeCalls` needs of a call. */
export type WritableCall =
  & Pick<CallBlock, "gadgetName">
  & Partial<Pick<CallBlock, "invocationId" | "dependencies" | "parameters" | "parametersRaw" | "parseError">>;

/** How calls are written. */
export interface WriteCallsOptions extends Pick<CallParserOptions, "markers"> {
  /** All parameters go into the JSON object, so that no gadget's schema reads a text as something else. Default false. */
  readonly asJson?: boolean;
}

interface Leaf {
  readonly pointer: string;
  readonly text: string;
}

/**
 * Writes calls as blocks that `parseCalls` reads as the same calls again.
 *
 * A value that an ARG line would read as another one (the text `42`, null, an empty list, a key with a blank) goes into a JSON object
 * at the start of the block; a line that looks like a marker gets the escape. A generated id (`Name#1`) is left out and so
 * generated again. A call with a `parseError` is written from its `parametersRaw`.
 *
 * @throws {TypeError} for what no block can say: a name or id that is no identifier, a key `__proto__`, a value that is not JSON.
 *
 * ```ts
 * import { writeCalls } from "orrery";
 *
 * console.log(writeCalls([{ gadgetName: "Add", invocationId: "sum", parameters: { n: 42 } }]).trim());
 * // => !!!GADGET_START:Add:sum
 * // => !!!ARG:n
 * // => 42
 * // => !!!GADGET_END
 * ```
 */
export function writeCalls(calls: Iterable<WritableCall>, options: WriteCallsOptions = {}): string {
  const markers = completeMarkers(options.markers);
  let text = "";
  for (const call of calls) {
    const body = call.parseError === undefined
      ? writeBody(plain(call), { markers, asJson: options.asJson === true })
      : rawBody(call);
    text += `${markers.start}${writeHeader(call)}\n${body}${markers.end}\n`;
  }
  return text;
}

function writeHeader(call: WritableCall): string {
  const { gadgetName, invocationId = "", dependencies = [] } = call;
  const id = /#[0-9]+$/.test(invocationId) ? "" : invocationId;
  const header = dependencies.length > 0
    ? `${gadgetName}:${id}:${dependencies.join(",")}`
    : id === ""
    ? gadgetName
    : `${gadgetName}:${id}`;
  const { error } = readCallHeader(header);
  if (error !== undefined && call.parseError === undefined) throw new TypeError(error);
  return header.replaceAll(/[\r\n]/g, " ");
}

function rawBody(call: WritableCall): string {
  const raw = call.parametersRaw ?? "";
  return raw === "" || raw.endsWith("\n") ? raw : `${raw}\n`;
}

function plain(call: WritableCall): JsonObject {
  const parameters = toJson({ ...call.parameters });
  if (hasProto(parameters)) {
    throw new TypeError(`Cannot write the call of ${call.gadgetName}: "__proto__" cannot be a name`);
  }
  return objectOrEmpty(parameters);
}

function writeBody(
  parameters: JsonObject,
  { markers, asJson }: { readonly markers: Markers; readonly asJson: boolean },
): string {
  const json: Record<string, unknown> = {};
  const leaves: Leaf[] = [];
  for (const [key, value] of Object.entries(parameters)) {
    if (key === "__proto__") {
      throw new TypeError(`Cannot write the parameter "__proto__": it cannot be a name`);
    }
    const written = asJson ? undefined : leavesOf(encodeSegment(key), value);
    if (written === undefined) json[key] = value;
    else leaves.push(...written);
  }
  const object = Object.keys(json).length === 0 ? "" : `${escapeLines(JSON.stringify(json), markers)}\n`;
  return object +
    leaves.map(({ pointer, text }) => `${markers.arg}${pointer}\n${escapeLines(text, markers)}\n`).join("");
}

/** The argument lines of a value, or undefined when they would not be read as that value again. */
function leavesOf(pointer: string, value: unknown): readonly Leaf[] | undefined {
  const read = readArgumentPointer(pointer);
  if (read.error !== undefined || read.text !== pointer) return undefined;
  if (typeof value !== "object" || value === null) {
    const text = String(value);
    const survives = Object.is(untypedValue(text), value) && !text.endsWith("\r");
    return survives ? [{ pointer, text }] : undefined;
  }
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [String(index), item])
    : Object.entries(value);
  const first = entries[0]?.[0];
  const isRead = first !== undefined && (Array.isArray(value) || !/^(?:0|[1-9][0-9]*)$/.test(first));
  return isRead ? collect(pointer, entries) : undefined;
}

function collect(
  pointer: string,
  entries: readonly (readonly [string, unknown])[],
): readonly Leaf[] | undefined {
  const all: Leaf[] = [];
  for (const [key, item] of entries) {
    const leaves = key === "" ? undefined : leavesOf(`${pointer}/${encodeSegment(key)}`, item);
    if (leaves === undefined) return undefined;
    for (const leaf of leaves) all.push(leaf);
  }
  return all;
}

/** One `\` before every line that would be a marker line once its own leading `\` are gone (calls.md 1). */
export function escapeLines(text: string, given: Partial<Markers> = {}): string {
  const markers = completeMarkers(given);
  let out = "";
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    if (looksLikeMarker(text, at, markers)) out += "\\";
    out += text.slice(at, end);
    at = end;
  }
  return out;
}

function looksLikeMarker(text: string, lineStart: number, markers: Markers): boolean {
  let at = lineStart;
  while (text[at] === "\\") at++;
  if (text.startsWith(markers.start, at) || text.startsWith(markers.arg, at)) return true;
  if (!text.startsWith(markers.end, at)) return false;
  let after = at + markers.end.length;
  while (after < text.length && isBlank(text.charCodeAt(after))) after++;
  return after === text.length || text[after] === "\n";
}
