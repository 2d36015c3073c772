// What a gadget hands to a facade, read once: an object that gives something else the second time has no second time.
import { isRecord } from "../core/json.ts";

/** Named options that were handed over; none when it is no object. */
export function optionsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The signal among options. */
export function signalOf(value: unknown): AbortSignal | undefined {
  const signal = optionsOf(value).signal;
  return signal instanceof AbortSignal ? signal : undefined;
}

/** Bytes, or the UTF-8 of a text. @throws {TypeError} */
export function bytesOf(data: unknown): Uint8Array {
  if (typeof data === "string") return new TextEncoder().encode(data);
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError(`expected a text or bytes, found ${kindOf(data)}`);
}

/** @throws {TypeError} that names the function: a gadget cannot set the mode of a file */
export function refuseMode(where: string, mode: unknown, usual: number): void {
  if (mode === undefined || mode === null || mode === usual) return;
  throw new TypeError(`${where}: a gadget cannot choose the mode of a file; leave "mode" out`);
}

/** In a word, for messages. */
export function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}
