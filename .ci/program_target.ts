import type { Target } from "./compile_plan.ts";

const ELF = { 0x3e: "x86_64-unknown-linux-gnu", 0xb7: "aarch64-unknown-linux-gnu" } as const;
const MACH_O = { 0x01000007: "x86_64-apple-darwin", 0x0100000c: "aarch64-apple-darwin" } as const;
const PE = { 0x8664: "x86_64-pc-windows-msvc" } as const;

/** For which system a program is, as the first kilobytes of its file tell; undefined for what is no program of a known one. */
export function programTarget(head: Uint8Array<ArrayBuffer>): Target | undefined {
  if (head.length < 64) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.getUint32(0) === 0x7f454c46) return nameIn(ELF, view.getUint16(18, true));
  if (view.getUint32(0, true) === 0xfeedfacf) return nameIn(MACH_O, view.getUint32(4, true));
  if (view.getUint16(0) !== 0x4d5a) return undefined;
  const at = view.getUint32(60, true);
  if (at + 6 > head.length || view.getUint32(at) !== 0x50450000) return undefined;
  return nameIn(PE, view.getUint16(at + 4, true));
}

function nameIn(names: Readonly<Record<number, Target>>, machine: number): Target | undefined {
  return names[machine];
}
