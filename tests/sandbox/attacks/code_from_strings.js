// Code that is made at run time.
import { ways } from "./_ways.js";

const FunctionOf = (f) => Object.getPrototypeOf(f).constructor;
const CODE = "globalThis.made = 'made'; return 'made'";
const later = async (start) => {
  globalThis.made = undefined;
  start();
  await new Promise((resolve) => setTimeout(resolve, 30));
  return globalThis.made;
};
class Sub extends FunctionOf(() => {}) {}

export default {
  name: "Attack",
  description: "Test.",
  run: () =>
    ways({
      eval: () => globalThis.eval("1 + 1"),
      indirect: () => (0, eval)("1 + 1"),
      apply: () => Reflect.apply(eval, undefined, ["1 + 1"]),
      Function: () => new Function(CODE)(),
      FunctionCall: () => Function(CODE)(),
      construct: () => Reflect.construct(Function, [CODE])(),
      constructOther: () => Reflect.construct(FunctionOf(() => {}), [CODE], Object)(),
      subclass: () => new Sub(CODE)(),
      prototype: () => FunctionOf(() => {})(CODE)(),
      constructorConstructor: () => [].constructor.constructor(CODE)(),
      boundConstructor: () => ways.bind().constructor(CODE)(),
      globalConstructor: () => globalThis.constructor.constructor(CODE)(),
      async: () => FunctionOf(async () => {})(CODE)(),
      generator: () => FunctionOf(function* () {})(CODE)().next().value,
      asyncGenerator: async () => (await FunctionOf(async function* () {})(CODE)().next()).value,
      nativeConstructor: () => Array.prototype.map.constructor(CODE)(),
      timeout: () => later(() => setTimeout("globalThis.made = 'made'", 0)),
      interval: () => later(() => clearInterval(setInterval("globalThis.made = 'made'", 1), 0)),
      immediate: () => later(() => setImmediate("globalThis.made = 'made'")),
      dataModule: () => import(["data", "text/javascript,export default 1"].join(":")),
      blobModule: () =>
        import(URL.createObjectURL(new Blob(["export default 1"], { type: "text/javascript" }))),
      httpModule: () => import(["http", "//127.0.0.1:@PORT@/x.js"].join(":")),
      nodeTimers: async () => {
        const { setTimeout: start } = await import("node:timers");
        return await later(() => start("globalThis.made = 'made'", 0));
      },
      error: () => new Error("x", { cause: 1 }).constructor.constructor(CODE)(),
      proxy: () => new Proxy(Function, {})(CODE)(),
      restored: () => {
        Object.defineProperty(globalThis, "eval", { value: globalThis.eval, writable: true });
        return globalThis.eval("1 + 1");
      },
    }),
};
