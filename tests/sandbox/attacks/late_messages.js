// It goes on talking when its call is over, and talks in the name of another call.
let kept;

export default {
  name: "Attack",
  description: "Test.",
  run: (_, context) => {
    kept?.log("from the call before");
    kept?.progress(1, 2);
    kept = context;
    setTimeout(() => {
      for (let n = 0; n < 100; n++) context.log("afterwards");
      context.progress(1, 2);
    }, 5);
    Promise.resolve().then(() => context.log("in a microtask"));
    try {
      context.invocationId = "other";
    } catch { /* frozen */ }
    for (const odd of [undefined, null, 1, {}, Symbol("x"), { toString: () => "odd" }, [], () => 1, 1n]) {
      try {
        context.log(odd);
      } catch { /* refused */ }
      try {
        context.progress(odd, odd);
      } catch { /* refused */ }
    }
    for (const odd of [NaN, Infinity, -1, 1e308]) {
      try {
        context.progress(odd, odd);
      } catch { /* refused */ }
    }
    return "done";
  },
};
