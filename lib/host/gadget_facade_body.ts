import { EFFECT_BYTES_WORDS, MAX_EFFECT_BYTES } from "../core/effect_limits.ts";
import { oneArray } from "../core/one_array.ts";
import { bytesOf } from "./gadget_facade_arguments.ts";

/** All bytes of a stream. @throws {RangeError} as soon as they are more than an effect can take */
export async function collected(stream: ReadableStream<unknown>): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) break;
    const chunk = bytesOf(value);
    size += chunk.byteLength;
    if (size > MAX_EFFECT_BYTES) {
      await reader.cancel();
      throw new RangeError(
        `found more than ${EFFECT_BYTES_WORDS}, which is all that can be handed on at once`,
      );
    }
    chunks.push(chunk);
  }
  return oneArray(chunks, size);
}
