// The frames of lib/core/frames.ts, for code that shares its prototypes with a gadget.

import { FRAME_HEAD, readLength, writeLength } from "../../core/frame_head.ts";
import type { BoundedBytes } from "./bounded_bytes.ts";
import { Buffer, Bytes, copyBytes, lengthOf, textOf, utf8 } from "./primordials.ts";

/** Bytes beside a text of JSON, as one frame. */
export function frameOf(text: string, bytes?: Uint8Array): Uint8Array<ArrayBuffer> {
  const json = utf8(text);
  const jsonLength = lengthOf(json);
  const length = bytes === undefined ? 0 : lengthOf(bytes);
  const frame = new Bytes(new Buffer(FRAME_HEAD + jsonLength + length));
  writeLength(frame, 0, jsonLength);
  writeLength(frame, 4, length);
  copyBytes(frame, json, FRAME_HEAD);
  if (bytes !== undefined) copyBytes(frame, bytes, FRAME_HEAD + jsonLength);
  return frame;
}

/** The same of a text that is bytes already; nothing lies beside it. */
export function frameOfParts(json: BoundedBytes): Uint8Array<ArrayBuffer> {
  const frame = new Bytes(new Buffer(FRAME_HEAD + json.keptBytes));
  writeLength(frame, 0, json.keptBytes);
  let at = FRAME_HEAD;
  json.each((bytes) => {
    copyBytes(frame, bytes, at);
    at += lengthOf(bytes);
  });
  return frame;
}

/** What a frame holds. @param body without its head */
export function openFrame(body: ArrayBuffer, textLength: number, length: number): ReadFrame {
  return {
    text: textOf(new Bytes(body, 0, textLength)),
    bytes: new Bytes(body, textLength, length - textLength),
  };
}

/** A frame that was read: its JSON, and the bytes beside it. */
export interface ReadFrame {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Puts frames together. They come from Orrery, so nothing is checked. */
export class GadgetFrameReader {
  readonly #onFrame: (frame: ReadFrame) => void;
  readonly #head = new Bytes(new Buffer(FRAME_HEAD));
  #target = this.#head;
  #body: ArrayBuffer | undefined;
  #wanted = FRAME_HEAD;
  #filled = 0;

  constructor(onFrame: (frame: ReadFrame) => void) {
    this.#onFrame = onFrame;
  }

  /** @param length how many bytes of the buffer are there */
  push(source: ArrayBuffer, length: number): void {
    for (let at = 0; at < length || this.#filled === this.#wanted;) {
      const count = length - at < this.#wanted - this.#filled ? length - at : this.#wanted - this.#filled;
      copyBytes(this.#target, new Bytes(source, at, count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled < this.#wanted) return;
      if (this.#body === undefined) this.#open();
      else this.#close(this.#body);
    }
  }

  #open(): void {
    this.#begin(new Buffer(readLength(this.#head, 0) + readLength(this.#head, 4)));
  }

  #close(body: ArrayBuffer): void {
    const frame = openFrame(body, readLength(this.#head, 0), this.#wanted);
    this.#begin(undefined);
    this.#onFrame(frame);
  }

  #begin(body: ArrayBuffer | undefined): void {
    this.#body = body;
    this.#target = body === undefined ? this.#head : new Bytes(body);
    this.#wanted = lengthOf(this.#target);
    this.#filled = 0;
  }
}
