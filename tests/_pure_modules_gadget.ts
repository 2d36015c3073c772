// Node's pure modules are loaded when a gadget imports them, after `Deno` and `process` are facades: what the runtime itself asks of the
// global `Deno` for them must be there.
import { gadgetWorld } from "./_gadget_world.ts";

const { Deno: facade, process, fetch: send, console: told } = gadgetWorld();
const print = console.log;
const names = Deno.args;
for (const [name, value] of Object.entries({ Deno: facade, process, fetch: send, console: told })) {
  Object.defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: true });
}

const uses: Readonly<
  Record<string, (module: Record<string, (...given: readonly unknown[]) => unknown>) => unknown>
> = {
  "node:assert": (assert) => assert.equal?.(1, 1),
  "node:buffer": ({ Buffer }) => Reflect.apply(Reflect.get(Object(Buffer), "from"), Buffer, ["x"]),
  "node:crypto": (crypto) => [crypto.randomUUID?.(), crypto.createHash?.("sha256"), crypto.randomBytes?.(8)],
  "node:events": ({ EventEmitter }) => EventEmitter === undefined ? 0 : Reflect.construct(EventEmitter, []),
  "node:stream": ({ Readable }) => Reflect.apply(Reflect.get(Object(Readable), "from"), Readable, [["a"]]),
  "node:url": (url) => url.fileURLToPath?.("file:///a"),
  "node:util": (util) => [util.inspect?.({ a: 1 }), util.format?.("%s", 1), util.promisify?.(() => {})],
  "node:zlib": (zlib) => zlib.gunzipSync?.(zlib.gzipSync?.("text")),
  "node:path": (path) => path.resolve?.("a"),
  "node:timers/promises": (timers) => timers.setTimeout?.(1),
};

let failed = 0;
for (const name of names) {
  try {
    const module = await import(name);
    await uses[name]?.(module);
  } catch (error) {
    failed++;
    print(name, error instanceof Error ? error.stack : error);
  }
}
print(`${names.length} modules, ${failed} failed`);
