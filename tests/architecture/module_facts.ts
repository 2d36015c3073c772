// What a module says, read with Deno's own parser (a lint plugin sees the syntax tree), so that comments, strings and
// regular expressions never look like code. `Deno.lint.runPlugin` exists under `deno test` only.

/** How a module is imported. A computed one is `import(expression)`: nobody can tell what it loads. */
export type ImportKind = "static" | "type" | "dynamic" | "computed";

/** One import, re-export or `import()`. */
export interface ImportFact {
  readonly kind: ImportKind;
  /** As written; the empty text for a computed import. */
  readonly specifier: string;
  readonly line: number;
}

/** One name that a module exports. */
export interface ExportFact {
  readonly name: string;
  readonly line: number;
  readonly kind: "value" | "type";
  /** The module it is re-exported from, with the name it has there. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /** The JSDoc directly above, as written between its delimiters. */
  readonly doc?: string;
}

/** A word that stands for an effect or for an escape from the type checker. */
export interface UseFact {
  readonly what: string;
  readonly line: number;
}

/** Everything the rules ask of a module. */
export interface ModuleFacts {
  readonly imports: readonly ImportFact[];
  readonly exports: readonly ExportFact[];
  /** Globals that reach outside: `Deno`, `process`, `fetch`, `Worker` … */
  readonly effects: readonly UseFact[];
  /** What opens a server, `new Hono` and `Deno.serve`; what begins and ends steps, of a run and of a journal. */
  readonly doors: readonly UseFact[];
  /** `any`, non-null assertions. */
  readonly escapes: readonly UseFact[];
  readonly comments: readonly { readonly text: string; readonly line: number }[];
}

const EFFECT_GLOBALS: ReadonlySet<string> = new Set([
  "Deno",
  "process",
  "fetch",
  "Worker",
  "WebSocket",
  "EventSource",
  "localStorage",
  "sessionStorage",
]);

/**
 * Reads one module.
 *
 * @throws {Error} when it is no TypeScript.
 */
export function moduleFacts(path: string, source: string): ModuleFacts {
  const facts = {
    imports: [] as ImportFact[],
    exports: [] as ExportFact[],
    effects: [] as UseFact[],
    doors: [] as UseFact[],
    escapes: [] as UseFact[],
    comments: [] as { text: string; line: number }[],
  };
  const own = new Set<string>();
  const plugin: Deno.lint.Plugin = {
    name: "facts",
    rules: { all: { create: (context) => visitor(facts, own, context) } },
  };
  Deno.lint.runPlugin(plugin, path, source);
  return { ...facts, effects: facts.effects.filter(({ what }) => !own.has(what)) };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

/** `own` collects the names that the module binds itself: its `fetch` parameter is not the global one. */
function visitor(
  facts: Writable<ModuleFacts>,
  own: Set<string>,
  context: Deno.lint.RuleContext,
): Deno.lint.LintVisitor {
  const lines = new Lines(context.sourceCode.text);
  const line = (node: { readonly range: readonly [number, number] }) => lines.at(node.range[0]);
  const use = (list: UseFact[], what: string, node: Deno.lint.Node) => list.push({ what, line: line(node) });
  const imported = (kind: ImportKind, specifier: string, node: Deno.lint.Node) =>
    facts.imports.push({ kind, specifier, line: line(node) });
  const literal = (node: Deno.lint.Node) =>
    node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
  return {
    ImportDeclaration: (node) =>
      imported(node.importKind === "type" ? "type" : "static", node.source.value, node),
    ImportExpression(node) {
      // `import("./x.ts" as string)` names its module to a reader and a bundler, but not to the loader that reads ahead.
      const specifier = literal(node.source.type === "TSAsExpression" ? node.source.expression : node.source);
      imported(specifier === undefined ? "computed" : "dynamic", specifier ?? "", node);
    },
    TSImportType(node) {
      if (node.argument.type === "TSLiteralType") {
        imported("type", literal(node.argument.literal) ?? "", node);
      }
    },
    ExportAllDeclaration(node) {
      imported("static", node.source.value, node);
      facts.exports.push({
        name: "*",
        kind: "value",
        line: line(node),
        from: { specifier: node.source.value, name: "*" },
      });
    },
    ExportNamedDeclaration(node) {
      if (node.source) imported(node.exportKind === "type" ? "type" : "static", node.source.value, node);
      facts.exports.push(...namedExports(node, line(node), docAbove(node, context)));
    },
    ExportDefaultDeclaration(node) {
      facts.exports.push({ name: "default", kind: "value", line: line(node), ...docAbove(node, context) });
    },
    Identifier(node) {
      if (!EFFECT_GLOBALS.has(node.name)) return;
      if (node.name !== "Deno" && isBinding(node)) own.add(node.name);
      else if (isReference(node)) use(facts.effects, node.name, node);
    },
    NewExpression(node) {
      const name = node.callee.type === "Identifier" ? node.callee.name : undefined;
      if (name === "Hono") use(facts.doors, "new Hono", node);
    },
    MemberExpression(node) {
      if (isNamed(node.object, "Deno") && keyOf(node, literal) === "serve") {
        use(facts.doors, "Deno.serve", node);
      }
      const method = keyOf(node, literal);
      if (method === "beginStep" || method === "endStep") use(facts.doors, method, node);
      if ((method === "begin" || method === "finish") && /^(?:journal|inner)$/.test(lastName(node.object))) {
        use(facts.doors, `journal.${method}`, node);
      }
      const key = node.computed ? literal(node.property) : undefined;
      if (key !== undefined && EFFECT_GLOBALS.has(key) && isGlobalObject(node.object)) {
        use(facts.effects, key, node);
      }
    },
    TSAnyKeyword: (node) => use(facts.escapes, "`any`", node),
    TSNonNullExpression: (node) => use(facts.escapes, "a non-null assertion", node),
    "Program:exit"() {
      for (const comment of context.sourceCode.getAllComments()) {
        facts.comments.push({ text: comment.value, line: line(comment) });
      }
    },
  };
}

function isNamed(node: Deno.lint.Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

/** Of `a.b.#journal` it is `journal`; nothing for what has no name. */
function lastName(node: Deno.lint.Node): string {
  const last = node.type === "MemberExpression" && !node.computed ? node.property : node;
  return last.type === "Identifier" || last.type === "PrivateIdentifier" ? last.name.replace(/^#/, "") : "";
}

function keyOf(
  { computed, property }: Deno.lint.MemberExpression,
  literal: (node: Deno.lint.Node) => string | undefined,
): string | undefined {
  return !computed && property.type === "Identifier" ? property.name : literal(property);
}

function namedExports(
  node: Deno.lint.ExportNamedDeclaration,
  line: number,
  doc: { readonly doc?: string },
): readonly ExportFact[] {
  const listed = node.specifiers.map((specifier): ExportFact => {
    const name = nameOf(specifier.local);
    const kind = node.exportKind === "type" || specifier.exportKind === "type" ? "type" : "value";
    const from = node.source ? { from: { specifier: node.source.value, name } } : {};
    return { name: nameOf(specifier.exported), kind, line, ...from, ...doc };
  });
  const declared = declaredNames(node.declaration).map(([name, kind]): ExportFact => ({
    name,
    kind,
    line,
    ...doc,
  }));
  return [...listed, ...declared];
}

function declaredNames(
  node: Deno.lint.ExportNamedDeclaration["declaration"],
): readonly [string, "value" | "type"][] {
  switch (node?.type) {
    case "VariableDeclaration":
      return node.declarations.flatMap(({ id }) =>
        id.type === "Identifier" ? [[id.name, "value"] as [string, "value"]] : []
      );
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [[node.id.name, "type"]];
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSEnumDeclaration":
    case "TSDeclareFunction":
      return node.id ? [[node.id.name, "value"]] : [];
    default:
      return [];
  }
}

const nameOf = (node: Deno.lint.Identifier | Deno.lint.StringLiteral): string =>
  node.type === "Identifier" ? node.name : node.value;

/** The JSDoc comment that ends right above the node. */
function docAbove(node: Deno.lint.Node, context: Deno.lint.RuleContext): { readonly doc?: string } {
  const text = context.sourceCode.text;
  const above = context.sourceCode.getAllComments().filter((comment) =>
    comment.type === "Block" && comment.value.startsWith("*") && comment.range[1] <= node.range[0] &&
    text.slice(comment.range[1], node.range[0]).trim() === ""
  ).at(-1);
  return above === undefined ? {} : { doc: above.value };
}

/** False for a name that is only a key: `x.fetch`, `{ fetch: 1 }`, `fetch(): void` in an interface, `class { fetch() {} }`. */
function isReference(node: Deno.lint.Identifier): boolean {
  const parent = node.parent;
  switch (parent.type) {
    case "MemberExpression":
      return parent.object === node || parent.computed || isGlobalObject(parent.object);
    case "Property":
      return parent.value === node;
    case "MethodDefinition":
    case "PropertyDefinition":
    case "TSMethodSignature":
    case "TSPropertySignature":
      return parent.key !== node;
    case "ImportSpecifier":
    case "ExportSpecifier":
      return false;
    default:
      return true;
  }
}

/** True where the name is made: a variable, a parameter, a function, a destructured property. */
function isBinding(node: Deno.lint.Identifier): boolean {
  const parent = node.parent;
  switch (parent.type) {
    case "VariableDeclarator":
      return parent.id === node;
    case "FunctionDeclaration":
    case "FunctionExpression":
      return parent.id === node || parent.params.some((parameter) => parameter === node);
    case "ArrowFunctionExpression":
      return parent.params.some((parameter) => parameter === node);
    case "Property":
      return parent.parent.type === "ObjectPattern" && parent.value === node;
    default:
      return false;
  }
}

function isGlobalObject(node: Deno.lint.Node): boolean {
  return node.type === "Identifier" && ["globalThis", "self", "window", "global"].includes(node.name);
}

/** Offsets to lines. */
class Lines {
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#starts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)];
  }

  /** The line that holds the offset, counted from 1. */
  at(offset: number): number {
    const next = this.#starts.findIndex((start) => start > offset);
    return next === -1 ? this.#starts.length : next;
  }
}
