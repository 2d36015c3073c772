// Memory within V8's heap, and beside it, where no limit of V8 holds.
const WAYS = {
  buffers: () => {
    const all = [];
    while (true) all.push(new Uint8Array(64 * 2 ** 20).fill(1));
  },
  gigabytes: () => {
    const all = [];
    while (true) all.push(new Uint8Array(4 * 2 ** 30).fill(1));
  },
  wasm: () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65_536 });
    while (true) {
      memory.grow(256);
      new Uint8Array(memory.buffer).fill(1);
    }
  },
  resizable: () => {
    const buffer = new ArrayBuffer(1, { maxByteLength: 8 * 2 ** 30 });
    while (true) {
      buffer.resize(buffer.byteLength + 64 * 2 ** 20);
      new Uint8Array(buffer).fill(1);
    }
  },
  shared: () => {
    const all = [];
    while (true) {
      const buffer = new SharedArrayBuffer(64 * 2 ** 20);
      new Uint8Array(buffer).fill(1);
      all.push(buffer);
    }
  },
  waiting: async () => {
    const all = [];
    while (true) {
      all.push(new Uint8Array(32 * 2 ** 20).fill(1));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
  texts: () => {
    const all = [];
    while (true) all.push("x".repeat(2 ** 20) + all.length);
  },
  blobs: () => {
    const all = [];
    while (true) all.push(new Blob([new Uint8Array(32 * 2 ** 20).fill(1)]));
  },
};

export default {
  name: "Attack",
  description: "Test.",
  input: { type: "object", properties: { way: { type: "string" } }, required: ["way"] },
  run: ({ way }) => WAYS[way](),
};
