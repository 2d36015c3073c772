// Messages inside the process: what its own code listens to, and what that code keeps where a gadget could reach it.
import { ways } from "./_ways.js";

const OWN = [Symbol.for("orrery.gadget"), "__orreryGadget"];

const ownWays = (name) =>
  Object.fromEntries(
    Object.entries({
      own: () => {
        const value = globalThis[name];
        globalThis[name] = { importFrom: () => "FORGED" };
        return globalThis[name] !== value;
      },
      ownDefined: () => Object.defineProperty(globalThis, name, { value: 1 }) && "changed",
      ownDeleted: () => Reflect.deleteProperty(globalThis, name),
      ownMember: () => {
        globalThis[name].importFrom = () => 1;
        return "changed";
      },
      ownImport: () =>
        globalThis[name].importFrom("file:///", "file://@SECRET_JSON@", { with: { type: "json" } }),
      ownImportHost: () => globalThis[name].importFrom(import.meta.url, "@OUTSIDE@/secret.js"),
      ownImportObject: () =>
        globalThis[name].importFrom(import.meta.url, { toString: () => "file://@SECRET_JS@" }),
      ownMeta: () => globalThis[name].metaOf("file:///etc/passwd")?.read?.(),
      ownMetaList: () => globalThis[name].metaOf(["file:///etc/passwd"])?.read?.(),
      ownMetaObject: () =>
        globalThis[name].metaOf({
          get 0() {
            return { toString: () => "file:///x" };
          },
        })?.read?.(),
    }).map(([way, attempt]) => [`${way} ${String(name)}`, attempt]),
  );

/** Everything that can be reached from the global object, a few steps deep. */
function reachable() {
  const seen = new Set();
  let edge = [globalThis];
  for (let depth = 0; depth < 6 && seen.size < 60_000; depth++) {
    const next = [];
    for (const value of edge) {
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) {
        continue;
      }
      seen.add(value);
      for (const key of Reflect.ownKeys(value)) {
        try {
          next.push(value[key]);
        } catch { /* a getter of its own */ }
      }
      next.push(Object.getPrototypeOf(value));
    }
    edge = next;
  }
  return [...seen];
}

const isChannel = (value) => {
  try {
    return /^(TcpConn|UnixConn|FsFile|TlsConn|ChildProcess|Listener)$/.test(value?.constructor?.name ?? "") &&
      typeof value !== "function" && value !== value.constructor.prototype;
  } catch {
    return false;
  }
};

export default {
  name: "Attack",
  description: "Test.",
  run: () =>
    ways({
      postMessage: () => globalThis.postMessage({ type: "result", id: 1, value: "FORGED" }) ?? undefined,
      selfMessage: () =>
        void globalThis.dispatchEvent(
          new MessageEvent("message", { data: { type: "result", id: 1, value: "FORGED" } }),
        ),
      close: () => void globalThis.close?.(),
      ...Object.fromEntries(OWN.flatMap((name) => Object.entries(ownWays(name)))),
      channels: () =>
        reachable().filter(isChannel).map((value) => value.constructor.name).join() || undefined,
      tokens: () => {
        const texts = reachable().flatMap((value) =>
          Reflect.ownKeys(value).map((key) => {
            try {
              return value[key];
            } catch {
              return undefined;
            }
          })
        );
        return texts.find((each) => typeof each === "string" && /^[0-9a-f]{64}$/.test(each));
      },
      callSites: () => {
        const before = Error.prepareStackTrace;
        Error.prepareStackTrace = (_, sites) => sites;
        try {
          const sites = new Error("x").stack;
          if (!Array.isArray(sites)) return undefined;
          const held = sites.flatMap((site) => [site.getThis?.(), site.getFunction?.()]);
          return held.some((each) => each !== undefined && each !== null && each !== globalThis)
            ? "functions of others"
            : undefined;
        } finally {
          Error.prepareStackTrace = before;
        }
      },
      caller: () =>
        (function inner() {
          return inner.caller ?? inner.arguments;
        })(),
      handlers: () => globalThis.onmessage ?? globalThis.onunhandledrejection ?? undefined,
    }),
};
