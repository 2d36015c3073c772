// A module of its own, so that it can be loaded late: what a bundle gives for `import("amaro")` has no names.

export { transformSync } from "amaro";
