import type { Shape } from "./types.ts";

export const area = ({ kind, size }: Shape): number =>
  kind === "square" ? size ** 2 : Math.round(Math.PI * size ** 2);
export { default as later } from "./later.ts";
