import { PURE_NODE_NAMES } from "./allowed_names.ts";

/** What a specifier stands for, before any file is looked at. */
export type ImportTarget =
  | { readonly kind: "file"; readonly isJson: boolean }
  | { readonly kind: "facade"; readonly name: string }
  /** Left as it is: a module of Node that only computes, or a package. */
  | { readonly kind: "outside"; readonly name: string }
  | { readonly kind: "refused"; readonly message: string; readonly hint: string };

/** What is known of a specifier where it stands. */
export interface SpecifierUse {
  /** The import attribute `type`. */
  readonly type?: string;
  readonly facades: Readonly<Record<string, string>>;
  readonly compiled: boolean;
}

/** Says what a specifier means, by its text alone. */
export function importTarget(specifier: string, use: SpecifierUse): ImportTarget {
  if (/^\.\.?\//.test(specifier)) return fileTarget(specifier, use);
  const name = builtIn(specifier, use.facades);
  if (use.type !== undefined && (name !== undefined || specifier.startsWith("npm:"))) {
    return refused(
      specifier,
      `only files are imported with { type: "${use.type}" }`,
      "Take the attribute out",
    );
  }
  if (name !== undefined) return name;
  if (specifier.startsWith("npm:")) return packageTarget(specifier, use);
  if (specifier.startsWith("node:")) return refused(specifier, "a gadget has no such module", nodeHint(use));
  if (/^(?:[a-z][a-z0-9+.-]*:|[/\\])/i.test(specifier)) {
    return refused(
      specifier,
      'expected a file beside the gadget ("./name.ts"), "orrery", a "node:" module or an "npm:" package',
      "Copy what is needed into the gadget's folder and import it by a relative path; what is data, read in `run` with a permission",
    );
  }
  return refused(
    specifier,
    "it names no file: a relative path begins with ./ or ../",
    `Write "./${specifier}" for a file, "npm:${specifier}" for a package; of other names there are ${
      nodeNames(use)
    }`,
  );
}

/** With `node:` or without it. */
function builtIn(specifier: string, facades: Readonly<Record<string, string>>): ImportTarget | undefined {
  for (const name of specifier.startsWith("node:") ? [specifier] : [specifier, `node:${specifier}`]) {
    if (Object.hasOwn(facades, name)) return { kind: "facade", name };
    if (PURE_NODE_NAMES.has(name)) return { kind: "outside", name };
  }
  return undefined;
}

const ENDING = /\.(?:ts|js|mts|mjs|json)$/;

function fileTarget(specifier: string, { type }: SpecifierUse): ImportTarget {
  if (/[?#]/.test(specifier)) {
    return refused(specifier, "a path of a module has no ? and no #", "Take that part out");
  }
  if (/\.d\.m?ts$/.test(specifier)) {
    return refused(specifier, "it holds types only", "Write `import type`, which loads nothing");
  }
  if (!ENDING.test(specifier)) {
    return refused(
      specifier,
      "expected an ending .ts, .js, .mts, .mjs or .json",
      "Write the whole name of the file; JSX and CommonJS cannot be loaded",
    );
  }
  const isJson = specifier.endsWith(".json");
  if (isJson === (type === "json") && (isJson || type === undefined)) return { kind: "file", isJson };
  return isJson
    ? refused(specifier, "JSON needs its attribute", 'Write `with { type: "json" }` behind it')
    : refused(
      specifier,
      `{ type: "${type}" } is not there`,
      'Only JSON is imported with an attribute, `with { type: "json" }`; read any other data in `run` with a permission',
    );
}

/** Nothing that would need an escape in a text. */
const PACKAGE = /^npm:\/?(?:@[\w-][\w.~-]*\/)?[\w-][\w.~-]*(?:@[\w.~^+*-]+)?(?:(?:\/[\w@+-][\w.~@+-]*)*)$/;

function packageTarget(specifier: string, { compiled }: SpecifierUse): ImportTarget {
  if (compiled) {
    return refused(
      specifier,
      "the compiled orrery cannot load packages",
      'Run Orrery with "deno run", where npm: packages work, or bundle the package into a file beside the gadget',
    );
  }
  return PACKAGE.test(specifier) ? { kind: "outside", name: specifier } : refused(
    specifier,
    "it is no name of a package",
    "Write npm:name, npm:name@1.2.3 or npm:@scope/name@1.2.3/path",
  );
}

function nodeHint(use: SpecifierUse): string {
  return `Commands are run with \`new Deno.Command(…).output()\`, requests made with \`fetch\`. There are ${
    nodeNames(use)
  }`;
}

function nodeNames({ facades }: SpecifierUse): string {
  return [...new Set([...Object.keys(facades), ...PURE_NODE_NAMES])].sort().join(", ");
}

function refused(specifier: string, message: string, hint: string): ImportTarget {
  return { kind: "refused", message: `Cannot import ${JSON.stringify(specifier)}: ${message}`, hint };
}
