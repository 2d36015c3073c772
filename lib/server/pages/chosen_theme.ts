import type { PageFrame } from "./layout.tsx";

/** Light or dark as the module `theme` has kept it; undefined where nobody has chosen. */
export function chosenTheme(headers: Pick<Headers, "get">): PageFrame["theme"] {
  const [, theme] = /(?:^|;\s*)orrery_theme=(light|dark)(?:;|$)/.exec(headers.get("cookie") ?? "") ?? [];
  return theme === "light" || theme === "dark" ? theme : undefined;
}
