import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type AnyGadget,
  type CallErrorCode,
  createCatalog,
  defineGadget,
  type Json,
  memoryJournal,
  PermissionRefused,
  runCalls,
  type RunCallsOptions,
  type RunEvent,
  type RunJournal,
  virtualClock,
  writeCalls,
} from "../mod.ts";

const call = (name: string, id = "", rest = ""): string =>
  `!!!GADGET_START:${name}:${id}\n${rest}!!!GADGET_END\n`;

async function run(
  text: string,
  gadgets: readonly AnyGadget[],
  options: Partial<RunCallsOptions> = {},
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of runCalls([text], { ...options, catalog: createCatalog(gadgets) })) {
    events.push(event);
  }
  return events;
}

function endOf(events: readonly RunEvent[]): RunEvent & { readonly type: "run-end" } {
  const last = events.at(-1);
  return last?.type === "run-end" ? last : assert.fail("the last event is no run-end");
}

const gives = (name: string, value: unknown): AnyGadget => ({ name, description: "Test.", run: () => value });

Deno.test("a run's value: one result as it is, several by id, none at all", async () => {
  const gadgets = [gives("A", 1), gives("B", { b: 2 }), gives("N", null)];
  assert.equal(endOf(await run(call("A", "a"), gadgets)).value, 1);
  assert.deepEqual(endOf(await run(call("A", "a") + call("B", "b") + call("N", "n"), gadgets)).value, {
    a: 1,
    b: { b: 2 },
    n: null,
  });
  assert.deepEqual(endOf(await run(call("A", "a") + call("B", "b:a"), gadgets)).value, { b: 2 });
  assert.equal("value" in endOf(await run("no call at all", gadgets)), false);
  const proto = endOf(await run(call("A", "__proto__") + call("A", "a"), gadgets)).value;
  assert.equal(JSON.stringify(proto), '{"__proto__":1,"a":1}');
});

Deno.test("every way to fail has its code, and the run goes on", async () => {
  const refused = new PermissionRefused("Writing is not allowed", {
    request: { kind: "write", value: "/x" },
    flag: "--allow-write=x",
  });
  const gadgets: AnyGadget[] = [
    gives("Ok", "ok"),
    gives("Function", { a: [() => 1] }),
    {
      name: "Cycle",
      description: "Test.",
      run: () => {
        const a: unknown[] = [];
        a.push(a);
        return a;
      },
    },
    {
      name: "Throws",
      description: "Test.",
      run: () => {
        throw new Error("boom");
      },
    },
    {
      name: "ThrowsText",
      description: "Test.",
      run: () => {
        throw "just text";
      },
    },
    { name: "Refused", description: "Test.", run: () => Promise.reject(refused) },
    { name: "Declared", description: "Test." },
    {
      name: "Typed",
      description: "Test.",
      input: { properties: { n: { type: "number" } }, required: ["n"] },
      run: () => 1,
    },
  ];
  const cases: readonly (readonly [text: string, code: CallErrorCode, error: RegExp])[] = [
    [call("Function", "x"), "result", /The result of Function is not JSON: found a function at a\/0/],
    [call("Cycle", "x"), "result", /not JSON: found a cycle/],
    [call("Throws", "x"), "failed", /^boom$/],
    [call("ThrowsText", "x"), "failed", /^just text$/],
    [call("Refused", "x"), "permission", /Writing is not allowed/],
    [call("Declared", "x"), "unavailable", /"Declared" is declared only/],
    [call("Typed", "x", "!!!ARG:n\nfour\n"), "input", /^n: .*number.*four/],
    [call("Typd", "x"), "unknown-gadget", /Did you mean "Typed"\?/],
    [call("Ok b", "x"), "parse", /Cannot read header "Ok b:x"/],
    [
      call("Ok", "x:ok", "!!!ARG:v\n{{results.ok/a}}\n"),
      "input",
      /Cannot fill {{results.ok\/a}}: "a" is not in ok, which is a string/,
    ],
  ];
  for (const [text, code, error] of cases) {
    const events = await run(call("Ok", "ok") + text + call("Ok", "after"), gadgets);
    const failed = events.find((event) => event.type === "call-error") ?? assert.fail(`${text}: no error`);
    assert.equal(failed.code, code, text);
    assert.match(failed.error, error);
    assert.equal(failed.flag, code === "permission" ? "--allow-write=x" : undefined);
    assert.equal(events.filter((event) => event.type === "call-result").length, 2, text);
    assert.equal(endOf(events).status, "failed");
  }
});

Deno.test("a result that is too long is cut at a character and says how much is missing", async () => {
  const limits = { resultBytes: 10 };
  const text = endOf(await run(call("A", "a"), [gives("A", "ééééééé")], { limits })).value;
  assert.equal(text, "ééééé\n[cut: 4 of 14 bytes are missing; limits.result-bytes is 10]");
  const list = endOf(await run(call("A", "a"), [gives("A", [1, 2, 3, 4, 5, 6])], { limits })).value;
  assert.equal(list, "[1,2,3,4,5\n[cut: 3 of 13 bytes are missing; limits.result-bytes is 10]");
  assert.equal(endOf(await run(call("A", "a"), [gives("A", "0123456789")], { limits })).value, "0123456789");
});

Deno.test("a streamed result is joined, told as it comes, and stops at the timeout", async () => {
  const words = defineGadget({
    name: "Words",
    description: "Test.",
    async *run() {
      yield "one ";
      await Promise.resolve();
      yield "two";
    },
  });
  const events = await run(call("Words", "w"), [words]);
  assert.equal(endOf(events).value, "one two");
  assert.deepEqual(events.flatMap((event) => event.type === "call-log" ? [event.text] : []), ["one ", "two"]);
  const clock = virtualClock();
  const endless = defineGadget({
    name: "Endless",
    description: "Test.",
    timeoutMs: 100,
    async *run() {
      while (true) {
        await clock.sleep(30);
        yield ".";
      }
    },
  });
  const stopped = await clock.run(run(call("Endless", "e"), [endless], { clock }));
  assert.deepEqual(stopped.map((event) => event.type), [
    "run-start",
    "call-open",
    "call-run",
    "call-log",
    "call-log",
    "call-log",
    "call-error",
    "run-end",
  ]);
});

Deno.test("what a gadget tells after its end is not heard", async () => {
  const clock = virtualClock();
  const late: AnyGadget = {
    name: "Late",
    description: "Test.",
    timeoutMs: 10,
    async run(_input: unknown, context: { log(text: string): void; progress(done: number): void }) {
      context.progress(1);
      await clock.sleep(50);
      context.log("too late");
      return "too late";
    },
  };
  const rest: AnyGadget = { name: "Rest", description: "Test.", run: () => clock.sleep(100) };
  const events = await clock.run(run(call("Late", "l") + call("Rest", "r"), [late, rest], { clock }));
  assert.equal(
    events.map((event) => event.type).join(" "),
    "run-start call-open call-run call-progress call-open call-run call-error call-result run-end",
  );
});

Deno.test("a source that breaks: complete calls have run, the open block says that it broke off, and the error is told", async () => {
  async function* broken(): AsyncGenerator<string> {
    yield `${call("A", "a")}!!!GADGET_START:A:open\n`;
    await Promise.resolve();
    throw new Error("cable cut");
  }
  const events: RunEvent[] = [];
  for await (const event of runCalls(broken(), { catalog: createCatalog([gives("A", 1)]) })) {
    events.push(event);
  }
  assert.equal(
    events.map((event) => event.type).join(" "),
    "run-start call-open call-run call-result call-open call-error run-end",
  );
  const { status, error, value } = endOf(events);
  assert.deepEqual([status, error, value], ["failed", "cable cut", 1]);
});

Deno.test("leaving the loop aborts the running gadgets and closes the source", async () => {
  const seen: string[] = [];
  const waits: AnyGadget = {
    name: "Waits",
    description: "Test.",
    run: (_input: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          seen.push("aborted");
          reject(signal.reason);
        })
      ),
  };
  async function* source(): AsyncGenerator<string> {
    try {
      yield call("Waits", "w");
      yield "more";
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield "text";
    } finally {
      seen.push("closed");
    }
  }
  for await (const event of runCalls(source(), { catalog: createCatalog([waits]) })) {
    if (event.type === "call-run") break;
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(seen.sort(), ["aborted", "closed"]);
});

Deno.test("own markers are used for reading, and dependencies and their results reach the gadget", async () => {
  const seen: unknown[] = [];
  const look: AnyGadget = {
    name: "Look",
    description: "Test.",
    run: (input: unknown, { dependencies, invocationId }: { dependencies: unknown; invocationId: string }) =>
      void seen.push([invocationId, input, dependencies]),
  };
  const markers = { start: "<<<START:", end: "<<<END:", arg: "@param:" };
  const text = writeCalls([
    { gadgetName: "One", invocationId: "one" },
    {
      gadgetName: "Look",
      invocationId: "look",
      dependencies: ["one"],
      parameters: { x: "@param:y", n: "{{results.one}}" },
    },
  ], { markers });
  await run(text, [gives("One", [1, 2]), look], { markers });
  assert.deepEqual(seen, [["look", { x: "@param:y", n: [1, 2] }, { one: [1, 2] }]]);
});

Deno.test("whatever a gadget throws is the error of its call", async () => {
  const shy = {
    toString: () => {
      throw new Error("no");
    },
  };
  for (const thrown of [Object.create(null), shy, undefined, Symbol("s"), 0]) {
    const sync: AnyGadget = {
      name: "Sync",
      description: "Test.",
      run: () => {
        throw thrown;
      },
    };
    const late: AnyGadget = { name: "Late", description: "Test.", run: () => Promise.reject(thrown) };
    const events = await run(call("Sync", "s") + call("Late", "l") + call("Sync", "d:l"), [sync, late]);
    assert.equal(events.filter((event) => event.type === "call-error").length, 2);
    assert.equal(events.filter((event) => event.type === "call-skip").length, 1);
  }
});

Deno.test("a gadget that changes what it gets changes nobody else's result", async () => {
  const sorts: AnyGadget = {
    name: "Sorts",
    description: "Test.",
    run: (
      { list }: { list: number[] },
      { dependencies }: { dependencies: Readonly<Record<string, Json>> },
    ) => {
      const mine: unknown = dependencies["a"];
      if (Array.isArray(mine)) mine.push(99);
      return list.sort();
    },
  };
  const events = await run(
    call("Get", "a") + call("Sorts", "b:a", "!!!ARG:list\n{{results.a}}\n") +
      call("Get2", "c:a", "!!!ARG:v\n{{results.a}}\n"),
    [
      gives("Get", [3, 1, 2]),
      sorts,
      { name: "Get2", description: "Test.", run: ({ v }: { v: unknown }) => v },
    ],
  );
  const results = events.flatMap((event) => event.type === "call-result" ? [event.result] : []);
  assert.deepEqual(results, [[3, 1, 2], [1, 2, 3], [3, 1, 2]]);
});

Deno.test("an abort does not wait for a module that never comes", async () => {
  const abort = new AbortController();
  const stuck = {
    name: "Stuck",
    source: { kind: "code" },
    state: "ready",
    load: () => new Promise<AnyGadget>(() => undefined),
  } as const;
  const catalog = { entries: [stuck], maybeFind: () => stuck };
  setTimeout(() => abort.abort(), 20);
  const types: string[] = [];
  for await (
    const event of runCalls([call("Stuck", "a") + call("Stuck", "b:a")], { catalog, signal: abort.signal })
  ) types.push(event.type);
  assert.deepEqual([types.at(0), types.at(-1)], ["run-start", "run-end"]);
  assert.equal(types.filter((type) => type === "call-skip" || type === "call-error").length, 2);
});

Deno.test("a source without an end waits for its reader and leaves turns to others", async () => {
  let pulled = 0;
  function* endless(): Generator<string> {
    while (true) {
      pulled++;
      yield call("A", `a${pulled}`);
    }
  }
  let seen = 0;
  for await (const _event of runCalls(endless(), { catalog: createCatalog([gives("A", 1)]) })) {
    if (++seen >= 20) break;
  }
  assert.ok(pulled < 20_000, `${pulled} calls were read for 20 events`);
  const timed = AbortSignal.timeout(50);
  let last = "";
  for await (const event of runCalls(endless(), { catalog: createCatalog([gives("A", 1)]), signal: timed })) {
    last = event.type;
  }
  assert.equal(last, "run-end");
});

Deno.test("limits that no run could go on with are refused", async () => {
  for (const limits of [{ concurrency: 0 }, { concurrency: NaN }, { timeoutMs: -1 }, { timeoutMs: NaN }]) {
    await assert.rejects(() => run(call("A", "a"), [gives("A", 1)], { limits }), RangeError);
  }
});

Deno.test("a run can be read twice, and streams of bytes are text", async () => {
  const bytes: AnyGadget = {
    name: "Bytes",
    description: "Test.",
    run: () => new Response("h\u00e9llo").body,
  };
  const objects: AnyGadget = {
    name: "Objects",
    description: "Test.",
    async *run() {
      yield { a: 1 };
    },
  };
  const events = runCalls([call("Bytes", "b") + call("Objects", "o")], {
    catalog: createCatalog([bytes, objects]),
  });
  for (const _turn of [1, 2]) {
    const seen = await Array.fromAsync(events);
    assert.equal(endOf(seen).value, "h\u00e9llo");
    assert.match(
      seen.flatMap((event) => event.type === "call-error" ? [event.error] : [])[0] ?? "",
      /The stream of Objects gave a object/,
    );
  }
});

Deno.test("parameters that are too deep are an error of their call", async () => {
  const deep = call("A", "a", `!!!ARG:${"x/".repeat(20_000)}y\n1\n`) +
    call("A", "b", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}\n`);
  const errors = (await run(deep, [gives("A", 1)])).flatMap((event) =>
    event.type === "call-error" ? [event.error] : []
  );
  assert.equal(errors.length, 2);
  for (const error of errors) assert.match(error, /more than 500 levels/);
});

const json: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }).map((value): Json =>
  JSON.parse(JSON.stringify(value))
);

Deno.test("property: a result that is passed on by a placeholder is the value itself", async () => {
  await fc.assert(
    fc.asyncProperty(json.filter((value) => !JSON.stringify(value).includes("__proto__")), async (value) => {
      const seen: unknown[] = [];
      const look: AnyGadget = {
        name: "Look",
        description: "Test.",
        run: ({ v }: { v: unknown }) => void seen.push(v),
      };
      await run(call("Get", "r") + call("Look", "u:r", "!!!ARG:v\n{{results.r}}\n"), [
        gives("Get", value),
        look,
      ]);
      assert.deepEqual(seen, [value]);
    }),
    { numRuns: 200 },
  );
});

Deno.test("property: however calls fail, each has exactly one outcome and the numbers have no gap", async () => {
  const kinds = fc.constantFrom("Ok", "Throws", "Slow", "Unknown", "Bad header");
  const calls = fc.array(fc.tuple(kinds, fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 2 })), {
    maxLength: 9,
    size: "max",
  });
  await fc.assert(
    fc.asyncProperty(calls, fc.option(fc.nat({ max: 40 }), { nil: undefined }), async (list, abortAt) => {
      const clock = virtualClock();
      const gadgets: AnyGadget[] = [
        { name: "Ok", description: "Test.", run: () => clock.sleep(7) },
        {
          name: "Throws",
          description: "Test.",
          run: () => {
            throw new Error("no");
          },
        },
        { name: "Slow", description: "Test.", timeoutMs: 20, run: () => clock.sleep(90) },
      ];
      const text = list.map(([name, deps], i) => call(name, `c${i}:${deps.map((d) => `c${d}`).join(",")}`))
        .join("");
      const abort = new AbortController();
      if (abortAt !== undefined) clock.sleep(abortAt).then(() => abort.abort());
      const events = await clock.run(run(text, gadgets, { clock, signal: abort.signal }));
      const outcomes = events.flatMap((event) =>
        event.type === "call-result" || event.type === "call-error" || event.type === "call-skip"
          ? [event.invocationId]
          : []
      );
      assert.deepEqual(outcomes.toSorted(), list.map((_, i) => `c${i}`).toSorted());
      assert.deepEqual(events.map((event) => event.seq), events.map((_, i) => i + 1));
      assert.ok(events.every((event, i) => i === 0 || event.at >= (events[i - 1]?.at ?? 0)));
    }),
    { numRuns: 300 },
  );
});

Deno.test("a text runs in the same way whether it is there as a whole or comes in pieces", async () => {
  const gadgets: readonly AnyGadget[] = [
    gives("Now", "now"),
    { name: "Later", description: "Test.", run: () => Promise.resolve("later") },
    { name: "Fails", description: "Test.", run: () => Promise.reject(new Error("no")) },
  ];
  const text = "Before.\n" + call("Now", "a") + call("Later", "b:a") + call("Fails", "c") +
    call("Now", "d:c") + call("Never", "e") + "After.\n!!!GADGET_START:Now:open\n";
  const told = async (chunks: Iterable<string>): Promise<readonly string[]> => {
    const all: string[] = [];
    for await (const event of runCalls(chunks, { catalog: createCatalog(gadgets) })) {
      if (event.type !== "text-delta") all.push(JSON.stringify({ ...event, seq: 0, at: 0, run: "" }));
    }
    return all.sort();
  };
  const whole = await told([text]);
  assert.deepEqual(await told([text.slice(0, 90), text.slice(90)]), whole);
  assert.deepEqual(await told(text), whole);
});

Deno.test("what stops a run is stopped with it", async () => {
  const stop = new AbortController();
  const never: AnyGadget = { name: "Never", description: "Test.", run: () => new Promise(() => {}) };
  for await (
    const event of runCalls([call("Never", "n")], { catalog: createCatalog([never]), stop })
  ) {
    if (event.type === "call-run") break; // whoever reads it leaves
  }
  assert.equal(stop.signal.aborted, true);
});

Deno.test("of a text that is aborted before it begins nothing is told", async () => {
  for (const chunks of [[call("A", "a")], [call("A", "a"), call("A", "b")]]) {
    const types: string[] = [];
    const options = { catalog: createCatalog([gives("A", 1)]), signal: AbortSignal.abort() };
    for await (const event of runCalls(chunks, options)) {
      types.push(event.type === "run-end" ? `${event.type} ${event.status}` : event.type);
    }
    assert.deepEqual(types, ["run-start", "run-end stopped"]);
  }
});

// What a gadget gives that is no JSON.

/** The error of a call whose gadget gives this. */
async function refused(value: unknown): Promise<string> {
  const events = await run(call("Totals", "t"), [gives("Totals", value)]);
  const error = events.find((event) => event.type === "call-error") ?? assert.fail("it was taken");
  assert.equal(error.code, "result");
  return error.error;
}

const MAP = "return Object.fromEntries(map) instead";
const SET = "return [...set] instead";
const BIGINT = "return String(bigint), or Number(bigint) where that is exact, instead";
const NUMBER = "return null or a text instead";
const ANY = "a gadget gives text, or a value that JSON can hold";

const REFUSED: readonly (readonly [value: unknown, found: string, advice: string])[] = [
  [new Map(), "a Map", MAP],
  [{ items: [0, new Map()] }, "a Map at items/1", MAP],
  [{ "odd at key": new Set() }, "a Set at odd at key", SET],
  [new Set([1]), "a Set", SET],
  [[10n], "a bigint at 0", BIGINT],
  [{ a: { b: 1n } }, "a bigint at a/b", BIGINT],
  [Infinity, "the number Infinity", NUMBER],
  [{ mean: NaN }, "the number NaN at mean", NUMBER],
  [new Uint8Array(2), "a Uint8Array", ANY],
  [{ f: () => 1 }, "a function at f", ANY],
  [{ toJSON: () => new Map() }, "a Map", MAP],
];

Deno.test("a result that is no JSON: what was found, where, and what to give instead", async () => {
  for (const [value, found, advice] of REFUSED) {
    assert.equal(await refused(value), `The result of Totals is not JSON: found ${found}; ${advice}`);
  }
});

Deno.test("a result that cannot be read says why", async () => {
  const value = {
    get a() {
      throw new Error("not JSON: found a Map");
    },
  };
  assert.match(await refused(value), /^The result of Totals /);
  const boom = {
    toJSON: () => {
      throw new Error("boom");
    },
  };
  assert.equal(await refused(boom), `The result of Totals cannot be read: boom; ${ANY}`);
});

Deno.test("property: what is advised for maps and sets is taken, and is the same data", async () => {
  const given = async (value: unknown) => endOf(await run(call("A", "a"), [gives("A", value)])).value;
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.string(), fc.integer())), async (entries) => {
    const map = new Map(entries.filter(([key]) => key !== "__proto__"));
    assert.deepEqual(await given(Object.fromEntries(map)), Object.fromEntries(map));
    assert.deepEqual(await given([...new Set(map.values())]), [...new Set(map.values())]);
  }));
});

Deno.test("a stream is ended at the limit of a result, and closed", async () => {
  const streamed = async (...pieces: readonly string[]) => {
    let isClosed = false;
    const streams: AnyGadget = {
      name: "Streams",
      run: async function* () {
        try {
          yield* pieces;
        } finally {
          isClosed = true;
        }
      },
    };
    const { value } = endOf(await run(call("Streams", "s"), [streams], { limits: { resultBytes: 1_000 } }));
    return { value, isClosed };
  };
  const cut =
    "[cut: the stream was ended here, so nobody knows how much is missing; limits.result-bytes is 1000]";
  const before = "x".repeat(990);
  assert.deepEqual(await streamed(before, "y".repeat(8), "zzzz", "more"), {
    value: `${before}${"y".repeat(8)}zz\n${cut}`,
    isClosed: true,
  });
  assert.deepEqual(await streamed(before, "a", "b"), { value: `${before}ab`, isClosed: true });
});

// What is kept before anything happens.

Deno.test("a call is in the journal, with all that came before, before it is performed", async () => {
  const journal = memoryJournal();
  const kept = journal.create({ kind: "calls", input: null });
  const steps = (): readonly string[] =>
    journal.read(kept.id).steps.filter(({ kind }) => kind === "gadget").map(({ key, status }) =>
      `${key} ${status}`
    );
  const seen: unknown[] = [];
  const look: AnyGadget = { name: "Look", description: "Test.", run: () => void seen.push(steps()) };
  await run(call("Look", "a") + call("Look", "b:a"), [look], { journal: kept });
  assert.deepEqual(seen, [["call:a started"], ["call:a finished", "call:b started"]]);
  assert.deepEqual(steps(), ["call:a finished", "call:b finished"]);
});

for (const method of ["begin", "commit"] as const) {
  Deno.test(`a call whose start cannot be kept does not begin (${method})`, async () => {
    const inner = memoryJournal().create({ kind: "calls", input: null });
    let isFull = false;
    const full = new Proxy<RunJournal>(inner, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: readonly unknown[]) => {
          if (isFull && name === method) throw new Error("the disk is full");
          return value.apply(target, given);
        };
      },
    });
    let done = 0;
    const gadget: AnyGadget = {
      name: "Once",
      description: "Test.",
      run: () => {
        done++;
        isFull = true;
      },
    };
    const events = await run(call("Once", "a") + call("Once", "b:a"), [gadget], { journal: full });
    assert.equal(endOf(events).status, "failed");
    const errors = events.flatMap((event) => "error" in event ? [event.error] : []);
    assert.ok(errors.some((error) => String(error).endsWith("the disk is full")), JSON.stringify(errors));
    assert.equal(done, 1);
  });
}
