// The path of a route, as its table writes it: `{name}` is one part, `{name+}` one or more.

const PART = /\{(\w+)(\+?)\}/g;

/** As Hono writes it. */
export function honoPath(path: string): string {
  return path.replaceAll(
    PART,
    (_whole, name: string, many: string) => many === "" ? `:${name}` : `:${name}{.+}`,
  );
}

/** As OpenAPI writes it. */
export function openapiPath(path: string): string {
  return path.replaceAll(PART, (_whole, name: string) => `{${name}}`);
}

/** Which paths of requests are meant, percent signs as they are. */
export function pathPattern(path: string): RegExp {
  const parts = path.split(/(\{\w+\+?\})/).map((part) => {
    if (!part.startsWith("{")) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return part.endsWith("+}") ? ".+" : "[^/]+";
  });
  return new RegExp(`^${parts.join("")}$`);
}

/** The names in it. */
export function pathNames(path: string): readonly string[] {
  return [...path.matchAll(PART)].map(([, name = ""]) => name);
}
