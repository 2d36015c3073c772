// Node inside the process of a gadget. What the gadget's own modules import of it are facades, but a package from npm gets the runtime's
// own: it has no rights there either, yet it would write where Orrery waits for effects, and see where Orrery is.

import type { ToGadget } from "../../core/gadget_message.ts";

type Load = Extract<ToGadget, { readonly type: "load" }>;

/** The runtime's own part for Node, made. */
export interface NodeParts {
  /** Puts the gadget's `process` into everything that has the runtime's own. */
  become(globals: Readonly<Record<string, unknown>>): void;
}

const PACKAGE_IMPORT = /\b(?:from|import)\s*\(?\s*["']npm:/;

const ownConsole = console;

/**
 * Deno 2.9 makes its part for Node when a module first needs it, out of the global objects that are there then: it has to be made before
 * those are the gadget's. It takes a tenth of a second, so it is made only where a module names one of Node's or a package.
 */
export async function loadNodeParts({ entry, modules }: Load): Promise<NodeParts | undefined> {
  const texts = [entry, ...Object.values(modules)].map(preparedText);
  if (!texts.some((text) => /["'](?:node|npm):/.test(text))) return undefined;
  const { default: ownProcess } = await import("node:process");
  const nodeGlobals = texts.some((text) => PACKAGE_IMPORT.test(text)) ? maybeNodeGlobals() : undefined;
  return {
    become(globals) {
      if (isObject(globals.process)) copyOver(ownProcess, globals.process);
      if (nodeGlobals !== undefined && isObject(globals.Deno)) {
        offerNodeGlobals(globals.Deno, {
          ...nodeGlobals,
          process: globals.process,
          console: globals.console,
        });
      }
    },
  };
}

/** What holds the runtime's own `console`, such as `node:console`, logs as the gadget's does: the own one writes to stdout. */
export function redirectConsole(globals: Readonly<Record<string, unknown>>): void {
  if (isObject(globals.console)) copyOver(ownConsole, globals.console);
}

/** Empty when it cannot be read: importing it says why. */
function preparedText(fileUrl: string): string {
  try {
    return Deno.readTextFileSync(new URL(fileUrl));
  } catch {
    return "";
  }
}

function copyOver(target: object, source: object): void {
  for (const name of Reflect.ownKeys(source)) {
    Reflect.defineProperty(target, name, {
      value: Reflect.get(source, name),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
}

/** In Deno 2.6 every CommonJS module begins by taking the names of Node from there. */
function maybeNodeGlobals(): object | undefined {
  const internal: unknown = Reflect.get(Deno, "internal");
  const inside: unknown = typeof internal === "symbol" ? Reflect.get(Deno, internal) : undefined;
  const found: unknown = isObject(inside) ? Reflect.get(inside, "nodeGlobals") : undefined;
  return isObject(found) ? found : undefined;
}

/** In the same place, with nothing else in it. */
function offerNodeGlobals(facade: object, nodeGlobals: object): void {
  const internal = Symbol("internal");
  Reflect.defineProperty(facade, "internal", { value: internal });
  Reflect.defineProperty(facade, internal, {
    value: Object.freeze({ nodeGlobals: Object.freeze(nodeGlobals) }),
  });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
