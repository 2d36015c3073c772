// Ends of the process, each at another time; the next call must not notice.
const WAYS = {
  exit: () => Deno.exit(0),
  exitCode: () => {
    Deno.exitCode = 7;
    process.exitCode = 7;
    return "done";
  },
  processExit: () => process.exit(3),
  reallyExit: () => process.reallyExit(0),
  abort: () => process.abort(),
  killed: () => Deno.kill(Deno.pid, "SIGKILL"),
  microtask: () => {
    queueMicrotask(() => Deno.exit(0));
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  microtaskThrow: () => {
    queueMicrotask(() => {
      throw new Error("in a microtask");
    });
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  timer: () => {
    setTimeout(() => Deno.exit(0), 10);
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  timerThrow: () => {
    setTimeout(() => {
      throw new Error("in a timer");
    }, 10);
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  afterwards: () => {
    setTimeout(() => {
      throw new Error("afterwards");
    }, 30);
    return "done";
  },
  rejection: () => {
    Promise.reject(new Error("nobody waits"));
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  rejectedThenable: () => {
    Promise.reject({
      then: () => Deno.exit(1),
      toString: () => {
        throw new Error("no");
      },
    });
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  reportError: () => {
    reportError(new Error("reported"));
    return "done";
  },
  listener: () => {
    const target = new EventTarget();
    target.addEventListener("x", () => {
      throw new Error("in a listener");
    });
    target.dispatchEvent(new Event("x"));
    return "done";
  },
  handlers: () => {
    globalThis.onerror = () => Deno.exit(1);
    globalThis.onunhandledrejection = () => Deno.exit(1);
    addEventListener("unload", () => Deno.exit(1));
    addEventListener("beforeunload", (event) => event.preventDefault());
    Promise.reject(new Error("to its own handler"));
    return new Promise((resolve) => setTimeout(() => resolve("done"), 50));
  },
  stackOverflow: () => {
    const deeper = () => deeper() + 1;
    return deeper();
  },
  throwsNothing: () => {
    throw undefined;
  },
  throwsProxy: () => {
    throw new Proxy({}, {
      get: () => {
        throw new Error("from a trap");
      },
      getPrototypeOf: () => {
        throw new Error("from a trap");
      },
    });
  },
  throwsGetter: () => {
    throw Object.defineProperty(new Error("x"), "message", { get: () => Deno.exit(1) });
  },
  throwsEndless: () => {
    const error = new Error("x");
    error.cause = error;
    throw error;
  },
  microtaskLoop: () => {
    const again = () => queueMicrotask(again);
    again();
    return new Promise((resolve) => setTimeout(() => resolve("done"), 10));
  },
  catastrophe: () => /^(a+)+$/.test("a".repeat(60) + "b"),
  atomics: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  neverSettles: () => new Promise(() => {}),
  ignoresAbort: async ({ signal }) => {
    signal.addEventListener("abort", () => {
      while (true);
    });
    await new Promise(() => {});
  },
  debugger: () => {
    // deno-lint-ignore no-debugger
    debugger;
    return "done";
  },
};

export default {
  name: "Attack",
  description: "Test.",
  input: { type: "object", properties: { way: { type: "string" } }, required: ["way"] },
  run: ({ way }, context) => WAYS[way](context),
};
