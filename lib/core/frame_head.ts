// The head of a frame: the lengths of its text and of the bytes beside it. Nothing of a prototype is used, which a gadget could have changed.

/** Bytes before the text of a frame. */
export const FRAME_HEAD = 8;

/** Writes a number of four bytes, big end first. */
export function writeLength(frame: Uint8Array, at: number, length: number): void {
  frame[at] = length >>> 24;
  frame[at + 1] = length >>> 16;
  frame[at + 2] = length >>> 8;
  frame[at + 3] = length;
}

/** A number of four bytes, big end first. */
export function readLength(head: Uint8Array, at: number): number {
  const byte = (offset: number): number => head[at + offset] ?? 0;
  return byte(0) * 0x1000000 + (byte(1) << 16 | byte(2) << 8 | byte(3));
}
