// `orrery … --server URL`: the command line as a client of a running server, in another folder.
import assert from "node:assert/strict";
import { posixTest } from "./_posix_test.ts";
import { readUntil, type TestProject, testProject } from "./_project.ts";
import { main } from "../main.ts";
import { type RunOptions, type RunResult, testProgram } from "./_run.ts";
import { type Served, served } from "./_served_project.ts";
import { TOKEN } from "./_server.ts";
import { typed, typedTest } from "./_typed.ts";

const call = (header: string, fields: Readonly<Record<string, string>>): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(fields).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

const FILES = {
  "sum.calls": `Let me see.\n${call("Calculate:sum", { expression: "1 + 1" })}${
    call("Calculate:twice:sum", { expression: "2 * 21" })
  }`,
  "wrong.calls": `${call("Nothing:one", {})}${call("Calculate:two", { expression: "1 +" })}`,
  "empty.calls": "There is nothing to do.\n",
  "pause.calls": call("Wait:pause", { seconds: "1.5" }),
  "write.calls": call("WriteFile:w", { path: "out.txt", content: "Hello." }),
  "plan.md": "# Plan\n\nHello.\n",
  "ask.md": "# Plan\n\n@llm\n  prompt: Say hello.\n",
  "broken.md": "# Plan\n\n@llm\n  nothing: 1\n",
  "answers.yml": "- text: Good morning.\n",
  "prompts/hello.prompt.md": "Say hello to {name}.\n",
  "prompts/typed.prompt":
    "---\ninput:\n  schema:\n    name: string\n    count: integer\n---\nSay hello to {{name}} {{count}} times.\n",
  "ask.calls": call("AskUser:q", { question: "Which one?" }),
};

interface Elsewhere extends AsyncDisposable {
  readonly there: Served;
  readonly here: TestProject;
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>;
}

/** A server of these files, and an empty project from which it is asked. */
async function elsewhere(files: Readonly<Record<string, string>> = FILES): Promise<Elsewhere> {
  const there = await served(files);
  const here = await testProject({});
  return {
    there,
    here,
    run: (args, options) =>
      here.run([...args, "--server", there.origin], {
        ...options,
        env: { ORRERY_TOKEN: TOKEN, ...options?.env },
      }),
    async [Symbol.asyncDispose]() {
      await there[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

const plain = (text: string): string =>
  text.replace(/\d+(?:\.\d+)? ms|\d+\.\d+ s\b/g, "T").replace(/\b1[0-9a-z]{11}\b/g, "ID");

Deno.test("what is run at a server is told as what is run here, in every form", async () => {
  await using at = await elsewhere();
  const cases: readonly (readonly string[])[] = [
    ["run", "sum.calls"],
    ["run", "./sum.calls", "--quiet"],
    ["run", "wrong.calls"],
    ["run", "empty.calls"],
    ["run", "plan.md"],
    ["run", "ask.md", "--model", "script/answers.yml"],
    ["run", "broken.md"],
    ["run", "hello", "--input", "name=Ada", "--model", "script/answers.yml"],
    ["run", "hello", "--input", "nam=Ada", "--model", "script/answers.yml"],
    ["run", "typed", "--input", "name=Ada", "--input", "count=5", "--model", "script/answers.yml"],
    ["run", "hello", "--input", "name=Ada", "--model", "script/answers.yml", "--budget", "turns=1"],
  ];
  for (const args of cases) {
    const [there, here] = [await at.run(args), await at.there.project.run(args)];
    assert.equal(there.code, here.code, `${args.join(" ")}: ${there.stderr}`);
    assert.equal(there.stdout, here.stdout, args.join(" "));
    assert.equal(plain(there.stderr), plain(here.stderr).replace(/^Try: .*\n/m, ""), args.join(" "));
  }
});

/** Without what is another in every run: ids and times. */
function timeless(text: string): unknown {
  const others = new Set(["run", "id", "ms", "at", "startedAt", "updatedAt", "endedAt", "timeMs"]);
  const parsed = text.trim().split("\n").map((line) =>
    line.startsWith("{") && line.endsWith("}") ? line : undefined
  );
  const drop = (name: string, value: unknown) =>
    others.has(name) && typeof value !== "object" ? undefined : value;
  return parsed.includes(undefined)
    ? JSON.parse(text, drop)
    : parsed.map((line) => JSON.parse(line ?? "", drop));
}

Deno.test("JSON is that of a run here, but for ids and times", async () => {
  await using at = await elsewhere();
  const cases: readonly (readonly string[])[] = [
    ["run", "sum.calls", "--json"],
    ["run", "wrong.calls", "--json", "--quiet"],
    ["run", "ask.md", "--model", "script/answers.yml", "--json"],
    ["run", "ask.md", "--model", "script/answers.yml", "--jsonl"],
    ["run", "sum.calls", "--jsonl"],
  ];
  for (const args of cases) {
    const [there, here] = [await at.run(args), await at.there.project.run(args)];
    assert.equal(there.code, here.code, there.stderr);
    assert.deepEqual(timeless(there.stdout), timeless(here.stdout), args.join(" "));
  }
  const id = await at.there.project.newest();
  for (
    const args of [["trace", id], ["trace", id, "--json"], ["runs"], ["runs", "--json"], [
      "runs",
      "--names",
      "--all",
    ]]
  ) {
    const [there, here] = [await at.run(args), await at.there.project.run(args)];
    assert.deepEqual([there.code, there.stderr], [0, ""], args.join(" "));
    if (args.includes("--json")) {
      assert.deepEqual(timeless(there.stdout), timeless(here.stdout), args.join(" "));
    } else assert.equal(there.stdout, here.stdout, args.join(" "));
  }
  const page = await at.run(["trace", id.slice(0, 8), "--html", "trace.html"]);
  assert.equal(page.code, 0, page.stderr);
  assert.match(await at.here.read("trace.html"), /^<!DOCTYPE html>/);
});

Deno.test("calls on stdin run at the server, and -o writes here", async () => {
  await using at = await elsewhere();
  const stdin = `Let me see.\n${call("Calculate:sum", { expression: "19 + 23" })}`;
  const piped = await at.run(["run", "-", "-o", "out/sum.txt"], { stdin });
  assert.deepEqual([piped.code, piped.stdout], [0, ""], piped.stderr);
  assert.equal(await at.here.read("out/sum.txt"), "42\n");
  const none = await at.run(["run", "-"], { stdin: "There is nothing to do.\n" });
  assert.match(none.stderr, /^notice: nothing ran: no line of stdin begins with !!!GADGET_START:\n$/m);
  const limited = await at.run(["run", "-", "--model", "a", "--budget", "turns=1"], { stdin });
  assert.deepEqual([limited.code, limited.stderr.match(/^error: --(model|budget) /gm)?.length], [2, 2]);
});

Deno.test("an error names the server, the flag or the file, and says what to do", async () => {
  await using at = await elsewhere();
  const { origin } = at.there;
  await at.here.write("mine.calls", call("Calculate:sum", { expression: "1" }));
  const port = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const absent = `http://127.0.0.1:${(port.addr as Deno.NetAddr).port}`;
  port.close();
  const cases: readonly (readonly [
    args: readonly string[],
    code: number,
    error: RegExp,
    env?: Record<string, string>,
  ])[] = [
    [
      ["runs", "--server", absent],
      7,
      new RegExp(
        `^error: No orrery serve answers at ${absent}: .*orrery serve, or name another one with --server URL`,
      ),
    ],
    [
      ["run", "sum.calls", "--server", origin, "--token", "x".repeat(20)],
      2,
      new RegExp(
        `^error: ${origin} does not take the token of --token; expected .*orrery serve has printed`,
      ),
    ],
    [
      ["runs", "--server", origin],
      2,
      new RegExp(`^error: ${origin} does not take the token of ORRERY_TOKEN;`),
      { ORRERY_TOKEN: "y".repeat(20) },
    ],
    [
      ["runs", "--server", origin],
      2,
      new RegExp(
        `^error: ${origin} asks for a token, and there is none in --token, ORRERY_TOKEN and \\.orrery/orrery\\.db-token of ${at.here.folder};`,
      ),
    ],
    [
      ["runs", "--server", "http://orrery.example:7337", "--token", TOKEN],
      2,
      /^error: --server http:\/\/orrery\.example:7337: the token of --token would go .*expected https:/,
    ],
    [["runs"], 2, /^error: ORRERY_SERVER http:\/\/orrery\.example: the token of ORRERY_TOKEN .*https:/, {
      ORRERY_SERVER: "http://orrery.example",
      ORRERY_TOKEN: TOKEN,
    }],
    [
      ["runs", "--server", "localhost:7337"],
      2,
      /^error: --server: found "localhost:7337", expected the URL that orrery serve prints, such as http:/,
    ],
    [
      ["runs", "--server", "http://me:secret@127.0.0.1"],
      2,
      /^error: --server: found a URL with more than a host and a path/,
    ],
    [["runs", "--token", TOKEN], 2, /^error: --token is for --server URL/],
    [
      ["run", "mine.calls", "--server", origin, "--token", TOKEN],
      2,
      new RegExp(
        `^error: The project of ${origin} has no file "mine.calls"; it is here, and with --server FILE is looked for in the project of the server`,
      ),
    ],
    [
      ["run", "none.md", "--server", origin, "--token", TOKEN],
      2,
      new RegExp(
        `^error: The project of ${origin} has no file "none.md"; with --server FILE is looked for there`,
      ),
    ],
    [
      ["run", "../mine.calls", "--server", origin, "--token", TOKEN],
      2,
      /^error: found "\.\.\/mine\.calls": with --server a path is one in the project of the server/,
    ],
    [
      ["run", "/mine.calls", "--server", origin, "--token", TOKEN],
      2,
      /^error: found "\/mine\.calls": with --server/,
    ],
    [
      ["run", "notes.txt", "--server", origin, "--token", TOKEN],
      2,
      /^error: Cannot run "notes\.txt": expected a call file/,
    ],
    [["run", "nothing", "--server", origin, "--token", TOKEN], 2, /^error: There is no prompt "nothing"/],
    [
      ["trace", "1abcdefghijk", "--server", origin, "--token", TOKEN],
      2,
      /^error: There is no run "1abcdefghijk" at http:/,
    ],
    [["trace", "a b", "--server", origin, "--token", TOKEN], 2, /^error: There is no run "a b" at http:/],
    [
      ["resume", "--server", origin, "--token", TOKEN],
      2,
      /^error: No run of http:.* can go on: orrery runs --all --server/,
    ],
  ];
  for (const [args, code, error, env] of cases) {
    const result = await at.here.run(args, { env });
    assert.deepEqual([result.code, result.stdout], [code, ""], `${args.join(" ")}: ${result.stderr}`);
    assert.match(result.stderr, error, args.join(" "));
    assert.doesNotMatch(result.stderr, /secret@|a-token-of/, args.join(" "));
  }
});

Deno.test("what is not for a server is refused by name, with a reason", async () => {
  await using here = await testProject({});
  const flags = [
    ...[
      "--allow-read",
      "--allow-write=out",
      "--allow-net=a.example",
      "--allow-run",
      "--allow-env",
      "--allow-all",
    ],
    ...["--deny-read=a", "--gadget", "a.ts", "--trust", "a", "--trust-project", "--trust-code", "--frozen"],
    ...[
      "--allow-gadget",
      "a=net",
      "--ephemeral",
      "--record",
      "r",
      "--replay",
      "r",
      "--watch",
      "--show-operations",
    ],
    ...["--concurrency", "2", "--timeout", "3", "--context", "c", "--collection", "c"],
  ];
  const { code, stderr } = await here.run(["run", "a.md", ...flags], {
    env: { ORRERY_SERVER: "http://127.0.0.1:9" },
  });
  assert.equal(code, 2);
  const names = flags.filter((flag) => flag.startsWith("--")).map((flag) => flag.replace(/=.*/, ""));
  const told = [...stderr.matchAll(/^error: (--[\w-]+) and --server do not go together: \S/gm)].map((
    [, name],
  ) => name);
  assert.deepEqual(told.sort(), names.sort());
  assert.match(
    stderr,
    /^error: ORRERY_SERVER=http:\/\/127\.0\.0\.1:9 stands for --server: to do it here, unset it$/m,
  );
  const named = await here.run(["resume", "--server", "http://127.0.0.1:9", "--allow-read"]);
  assert.deepEqual([named.code, named.stderr.split("\n").length], [2, 3]);
});

Deno.test("the token of a server on this machine is found in the project of the working folder", async () => {
  await using there = await served(FILES);
  const found = await there.project.run(["run", "sum.calls", "--quiet"], {
    env: { ORRERY_SERVER: there.origin },
  });
  assert.deepEqual(found, { code: 0, stdout: "42\n", stderr: "" });
});

posixTest(
  "a token is not sent on to where a server redirects, nor past a link in place of its file",
  async () => {
    await using here = await testProject({ "secret.txt": `${TOKEN}\n` });
    await Deno.mkdir(`${here.folder}/.orrery`);
    await Deno.symlink(`${here.folder}/secret.txt`, `${here.folder}/.orrery/orrery.db-token`);
    const asked: (string | null)[] = [];
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ headers, url }) => {
      asked.push(headers.get("authorization"));
      return url.endsWith("limit=21")
        ? Response.redirect(new URL("/elsewhere", url), 302)
        : new Response("Hello.");
    });
    const args = ["runs", "--server", `http://127.0.0.1:${server.addr.port}`];
    const linked = await here.run(args);
    const redirected = await here.run([...args, "--token", TOKEN]);
    const other = await here.run([...args, "--all"]);
    await server.shutdown();
    assert.deepEqual([linked.code, redirected.code, other.code], [7, 7, 7]);
    assert.match(
      other.stderr,
      /answers with something else than its API says; expected orrery serve of this version/,
    );
    assert.match(redirected.stderr, /answers with the status 302 .*expected orrery serve/);
    assert.deepEqual(asked, [null, `Bearer ${TOKEN}`, null]);
  },
);

typedTest("questions and permissions of a run there are answered at the terminal here", async () => {
  await using at = await elsewhere();
  const ask = (args: readonly string[], lines: readonly string[]) =>
    typed([...args, "--server", at.there.origin], {
      cwd: at.here.folder,
      lines,
      env: { ...at.here.env, ORRERY_TOKEN: TOKEN },
    });
  const answered = await ask(["run", "ask.calls"], ["the left one"]);
  assert.deepEqual([answered.code, answered.stdout], [0, "the left one\n"], answered.stderr);
  assert.match(answered.stderr, /^Which one\?$/m);
  const allowed = await ask(["run", "write.calls"], ["yes"]);
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.match(allowed.stderr, /out\.txt.* allow it for this run\? \[yes\/no\]/);
  assert.equal(await at.there.project.read("out.txt"), "Hello.");
  const denied = await ask(["run", "write.calls"], ["no"]);
  assert.equal(denied.code, 5);
  assert.match(
    denied.stderr,
    /^refused; to allow it, start orrery serve there with --allow-write=out\.txt$/m,
  );
  const silent = await ask(["run", "ask.calls"], []);
  assert.deepEqual([silent.code, silent.stdout], [130, ""], silent.stderr);
  const nobody = await at.run(["run", "write.calls"]);
  assert.equal(nobody.code, 5, nobody.stderr);
});

Deno.test("a connection that breaks again and again is made again: nothing is lost, nothing comes twice", async () => {
  await using cuts = cuttingProxy();
  await using there = await served(
    {
      "many.calls": Array.from(
        { length: 60 },
        (_, n) => call(`Calculate:c${n}${n === 0 ? "" : `:c${n - 1}`}`, { expression: `${n}` }),
      ).join(""),
    },
    ["--name", `127.0.0.1:${cuts.port}`],
  );
  cuts.to(there.port);
  await using here = await testProject({});
  const { code, stdout, stderr } = await here.run([
    ...["run", "many.calls", "--jsonl", "--quiet"],
    ...["--server", `http://127.0.0.1:${cuts.port}`, "--token", TOKEN],
  ]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.ok(cuts.made > 5, `${cuts.made} connections`);
  const told = stdout.trim().split("\n").map((line): { seq: number; type: string } => JSON.parse(line));
  assert.deepEqual(told.map(({ seq }) => seq), Array.from({ length: 3 * 60 + 2 }, (_, index) => index + 1));
});

interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  readonly made: number;
  to(port: number): void;
}

/** Passes bytes on; what comes back of events is cut off after some of them. */
function cuttingProxy(): CuttingProxy {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  let target = 0;
  let made = 0;
  const work: Promise<unknown>[] = [];
  const pass = async (client: Deno.Conn): Promise<void> => {
    using near = client;
    using far = await Deno.connect({ hostname: "127.0.0.1", port: target });
    const nth = ++made;
    const head = new Uint8Array(65_536);
    const size = await near.read(head) ?? 0;
    const isEvents =
      new TextDecoder().decode(head.subarray(0, size)).match(/\/events|POST \/v1\/runs /) !== null;
    await far.write(head.subarray(0, size));
    let left = isEvents ? 900 + 731 * nth : Infinity;
    const buffer = new Uint8Array(4_096);
    for (let read = await far.read(buffer); read !== null && left > 0; read = await far.read(buffer)) {
      const part = buffer.subarray(0, Math.min(read, left));
      left -= read;
      for (let at = 0; at < part.length;) at += await near.write(part.subarray(at));
    }
  };
  const accepting = (async () => {
    for await (const client of listener) work.push(pass(client).catch(() => undefined));
  })();
  return {
    port: listener.addr.port,
    get made() {
      return made;
    },
    to: (port) => void (target = port),
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      await Promise.all(work);
    },
  };
}

Deno.test("Ctrl-C stops the run at the server, and resume goes on with it there", async () => {
  await using at = await elsewhere();
  const stopped = await interrupted(at, ["run", "pause.calls"], async () => {
    while (!/"status":"running"/.test(await (await at.there.ask("/v1/runs")).text())) await pause(20);
    await pause(100);
  });
  const id = await at.there.project.newest();
  assert.equal(stopped.code, 130, stopped.stderr);
  assert.match(
    stopped.stderr,
    new RegExp(`^stopped; to go on: orrery resume ${id} --server ${at.there.origin}$`, "m"),
  );
  assert.equal((await at.there.json(`/v1/runs/${id}`)).body.status, "stopped");
  const resumed = await at.run(["resume", id.slice(0, 9)]);
  assert.equal(resumed.code, 0, resumed.stderr);
  const again = await at.run(["resume", id]);
  assert.deepEqual([again.code, again.stdout], [1, ""], again.stderr);
  const kept = await at.run(["resume", id, "-o", "value.txt"]);
  assert.equal(kept.code, 0, kept.stderr);
  const here = await at.there.project.run(["resume", id, "-o", "value.txt"]);
  assert.equal(here.code, 0, here.stderr);
  assert.equal(await at.here.read("value.txt"), await at.there.project.read("value.txt"));
});

Deno.test("resume of a run that is under way there follows it", async () => {
  await using at = await elsewhere();
  const { body: { id } } = await at.there.json("/v1/runs", { body: { file: "pause.calls" } });
  const followed = await at.run(["resume", String(id), "--json"]);
  assert.equal(followed.code, 0, followed.stderr);
  assert.equal(JSON.parse(followed.stdout).status, "done");
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ctrl-C is pressed once `when` has come. */
async function interrupted(
  at: Elsewhere,
  args: readonly string[],
  when: () => Promise<void>,
): Promise<RunResult> {
  const { program, stdout, stderr } = testProgram({
    cwd: at.here.folder,
    env: { ...at.here.env, ORRERY_SERVER: at.there.origin, ORRERY_TOKEN: TOKEN },
  });
  const listeners: (() => void)[] = [];
  const code = main(args, {
    ...program,
    signals: {
      addSignalListener: (signal, listener) => void (signal === "SIGINT" && listeners.push(listener)),
      removeSignalListener: () => {},
    },
  });
  await when();
  listeners.forEach((press) => press());
  return { code: await code, stdout: stdout.text, stderr: stderr.text };
}

const AGENT = `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet {{topic}}." } ], store: { slot: { name: greeting } } } }
      - { id: more?, message: { message: "More?", hold: true } }
      - { id: bye, message: { message: "Bye." } }
      - { id: end, flow: { action: end } }
`;

const TALKS = {
  "orrery.yaml": "models: { default: script/echo }\n",
  "guide.agent.yml": AGENT,
  "broken.agent.yml": 'version: "0.1"\nstructure:\n  id: b\n  action: { id: m, mesage: { message: Hi } }\n',
  "plan.md": "# Plan\n\n@llm\n  prompt: Hello.\n\n@import notes.md\n",
  "down.yml": '- error: { status: 400, message: "too strange" }\n- text: Well.\n',
  "slow.yml": '- chunks: ["one ", "two ", "three"]\n  delayMs: 300\n',
  "colour.agent.yml": `version: "0.1"
structure:
  id: colour
  action:
    id: main
    chain:
      - { id: colour?, gadget: { name: AskUser, input: { question: "Which colour?" }, target: { slot: { name: colour } } } }
      - { id: more?, message: { message: "{{colour}}. More?", hold: true } }
      - { id: end, flow: { action: end } }
`,
};

const GUIDE = ["guide.agent.yml", "--slot", "topic=the river"];

/** What is said of a conversation here, as it is said of one at a server. */
const asThere = (text: string, { origin }: Served): string =>
  plain(text).replace(/orrery (?:resume|show conversation) ID/g, `$& --server ${origin}`);

Deno.test("a conversation with an agent of a server is held as one here", async () => {
  await using at = await elsewhere(TALKS);
  const cases: readonly (readonly [args: readonly string[], stdin?: string])[] = [
    [["run", ...GUIDE]],
    [["run", ...GUIDE, "--say", "Ann"]],
    [["run", ...GUIDE, "--say", "Ann", "--say", "no", "--say", "more"]],
    [["run", ...GUIDE, "--say", "Ann", "--model", "script/down.yml"]],
    [["run", "broken.agent.yml"]],
    [["chat", ...GUIDE], "Ann\n"],
    [["chat", ...GUIDE, "--quiet"], "Ann\nno\nmore\n"],
    [["chat", ...GUIDE, "--model", "script/down.yml"], "Ann\nAnn\n"],
  ];
  for (const [args, stdin] of cases) {
    const [there, here] = [await at.run(args, { stdin }), await at.there.project.run(args, { stdin })];
    assert.deepEqual(
      [there.code, there.stdout],
      [here.code, here.stdout],
      `${args.join(" ")}: ${there.stderr}`,
    );
    assert.equal(plain(there.stderr), asThere(here.stderr, at.there), args.join(" "));
  }
  for (const form of ["--json", "--jsonl"]) {
    const args = ["run", ...GUIDE, "--say", "Ann", "--quiet", form];
    const [there, here] = [await at.run(args), await at.there.project.run(args)];
    assert.deepEqual(timeless(there.stdout), timeless(here.stdout));
  }
});

Deno.test("a conversation there goes on by resume, and is shown", async () => {
  await using at = await elsewhere(TALKS);
  await at.run(["run", ...GUIDE, "--say", "Ann", "--model", "script/down.yml"]);
  const id = await at.there.project.newest();
  const failed = await at.run(["resume", "--quiet"]); // the newest, which has failed
  assert.deepEqual([failed.code, failed.stdout], [0, "Well.\nMore?\n"], failed.stderr);
  const on = await at.run(["resume", id.slice(0, 8)], { stdin: "no\n" });
  assert.deepEqual([on.code, on.stdout], [0, "Bye.\n"], on.stderr);
  assert.match(on.stderr, /^4 messages so far; the last:\n> Ann\nWell\.\nMore\?\n/);
  assert.match(on.stderr, new RegExp(`^completed; all of it: orrery show conversation ${id} --server `, "m"));
  const over = await at.run(["resume", id]);
  assert.deepEqual([over.code, over.stdout], [1, ""]);
  assert.match(
    over.stderr,
    /^error: This conversation has ended\. Start a new one; all of it: orrery show conversation/,
  );
  for (const more of [[], ["--json"]]) {
    for (
      const [kind, name] of [
        ["conversation", id],
        ["agent", "guide.agent.yml"],
        ["agent", "broken.agent.yml"],
        ["document", "plan.md"],
      ]
    ) {
      const args = ["show", kind ?? "", name ?? "", ...more];
      assert.deepEqual(await at.run(args), await at.there.project.run(args), args.join(" "));
    }
  }
  const none = await at.run(["show", "document", "none.md"]);
  assert.match(
    none.stderr,
    /^error: The project of http:.* has no file "none\.md"; with --server FILE is looked for there/,
  );
  const outside = await at.run(["show", "document", ".orrery/none.md"]);
  assert.deepEqual([outside.code, outside.stdout], [2, ""]);
  const other = await at.run(["show", "profile", "x"]);
  assert.deepEqual([other.code, other.stdout], [2, ""]);
  assert.match(
    other.stderr,
    /^error: orrery show profile does not go with --server: of a server conversations, documents and agents are shown/,
  );
  const nobody = await at.run(["chat"]);
  assert.match(
    nobody.stderr,
    /^error: With --server an agent of the project of http:.* is talked with: orrery chat NAME\.agent\.yml/,
  );
});

Deno.test("an answer that Ctrl-C has stopped there is finished by resume", async () => {
  await using at = await elsewhere(TALKS);
  const stopped = await interrupted(
    at,
    ["run", ...GUIDE, "--say", "Ann", "--model", "script/slow.yml"],
    async () => {
      while (!/text-delta/.test(await eventsSoFar(at.there))) await pause(20);
    },
  );
  const id = await at.there.project.newest();
  assert.equal(stopped.code, 130, stopped.stderr);
  assert.match(
    stopped.stderr,
    new RegExp(`^stopped; to go on: orrery resume ${id} --server ${at.there.origin}$`, "m"),
  );
  await using seen = watched(at.there.origin);
  const on = await at.here.run(["resume", id, "--server", seen.origin, "--token", TOKEN]);
  assert.deepEqual([on.code, on.stdout], [0, "one two three\nMore?\n"], on.stderr);
  assert.equal(seen.paths.filter((path) => path.endsWith("/trace")).length, 1, seen.paths.join("\n"));
  assert.match(on.stderr, /^2 messages so far; the last:\nYour name\?\n> Ann\n/);
});

/** A server in front of another one, which notes what is asked for. */
function watched(origin: string) {
  const paths: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    paths.push(pathname);
    const headers = new Headers(request.headers);
    headers.delete("host");
    return await fetch(origin + pathname + search, { method: request.method, headers, body: request.body });
  });
  return {
    paths,
    origin: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Of the newest conversation, for a moment. */
async function eventsSoFar(there: Served): Promise<string> {
  const { body: { runs } } = await there.json("/v1/runs?kind=conversation");
  const [id] = Array.isArray(runs) ? runs.map((run): string => run.id) : [];
  if (id === undefined) return "";
  const answer = await there.ask(`/v1/runs/${id}/events`, { signal: AbortSignal.timeout(200) }).catch(() =>
    undefined
  );
  let text = "";
  try {
    for await (const part of answer?.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  } catch { /* it goes on */ }
  return text;
}

typedTest("at a terminal a chat there has its commands, and its questions are asked", async () => {
  await using at = await elsewhere(TALKS);
  const chat = (args: readonly string[], lines: readonly string[]) =>
    typed(["chat", ...args, "--server", at.there.origin], {
      cwd: at.here.folder,
      lines,
      env: { ...at.here.env, ORRERY_TOKEN: TOKEN },
    });
  const held = await chat(GUIDE, [
    "Ann",
    "/slots",
    "/trace",
    "/back 9",
    "/back",
    "/back",
    "/retry",
    "Bob",
    "no",
  ]);
  assert.equal(held.code, 0, held.stderr);
  assert.match(
    held.stderr,
    new RegExp(`^guide \\(guide\\.agent\\.yml at ${at.there.origin}\\); /help shows`),
  );
  assert.match(held.stderr, /conversation\.greeting +"ECHO\[Greet the river\.\]"/);
  assert.match(held.stderr, /^> There are 2 turns to take back$/m);
  assert.match(held.stderr, /goes on behind turn 1; the other one stays as it was/);
  assert.match(held.stderr, /goes on behind turn 0; the other one stays as it was/);
  assert.match(held.stderr, /completed; all of it: orrery show conversation/);
  assert.equal(held.stdout.match(/Your name\?/g)?.length, 2);
  assert.equal(held.stdout.match(/Bye\./g)?.length, 1);
  const asked = await chat(["colour.agent.yml"], ["blue", "no"]);
  assert.equal(asked.code, 0, asked.stderr);
  assert.match(asked.stderr, /^Which colour\?$/m);
  assert.match(asked.stdout, /^blue\. More\?$/m);
});

Deno.test("calls on stdin run at the server while they are still being written", async () => {
  await using at = await elsewhere();
  const first = new TextEncoder().encode(call("Calculate:first", { expression: "1 + 1" }));
  const second = new TextEncoder().encode(call("Calculate:second:first", { expression: "40 + 2" }));
  const { program, stdout, stderr } = testProgram({
    cwd: at.here.folder,
    env: { ...at.here.env, ORRERY_TOKEN: TOKEN },
  });
  const pieces = [first, second];
  const code = await main(["run", "-", "--server", at.there.origin], {
    ...program,
    stdin: {
      isTerminal: () => false,
      async read(buffer) {
        if (pieces.length < 2) { while (!/ok {4}first/.test(stderr.text)) await pause(10); // it has run by then
         }
        const piece = pieces.shift();
        if (piece !== undefined) buffer.set(piece);
        return piece?.length ?? null;
      },
    },
  });
  assert.deepEqual([code, stdout.text], [0, "42\n"], stderr.text);
  const broken = new Uint8Array([...first, 0xff, ...second]);
  const [there, here] = [
    await at.run(["run", "-"], { stdin: broken }),
    await at.there.project.run(["run", "-"], { stdin: broken }),
  ];
  const why =
    /Cannot read stdin any further: it is not UTF-8 text: the first wrong byte is 0xFF at offset \d+/;
  assert.ok(there.code !== 0 && here.code !== 0, there.stderr);
  assert.match(here.stderr, why);
  assert.match(there.stderr, why);
});

posixTest("Ctrl-C twice leaves the run at the server, and says how it is followed", async () => {
  await using here = await testProject({});
  const cancelled = Promise.withResolvers<void>();
  const id = "1abcdefghijk";
  // A server that takes its time.
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url, method }) => {
    const { pathname } = new URL(url);
    if (pathname === `/v1/runs/${id}/cancel`) cancelled.resolve();
    const state = {
      id,
      kind: "calls",
      status: "running",
      owned: true,
      startedAt: 0,
      ms: 0,
      usage: { input: 0, output: 0 },
      steps: 0,
      asks: [],
    };
    if (method === "GET" || pathname !== "/v1/runs") return Response.json(state);
    const start = { type: "run-start", run: id, seq: 1, at: 0, kind: "calls", file: "a.calls" };
    const call = { type: "call-log", invocationId: "a", text: "It goes on.", run: id, seq: 2, at: 1 };
    const body = new ReadableStream({
      start(controller) {
        for (const event of [start, call]) {
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
        }
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream", "orrery-run": id } });
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const child = here.start(["run", "a.calls", "--server", origin]);
  const reader = child.stderr.getReader();
  try {
    await child.stdin.close();
    await readUntil(reader, "It goes on.");
    child.kill("SIGINT");
    await cancelled.promise;
    child.kill("SIGINT");
    assert.equal((await child.status).code, 130);
    await readUntil(
      reader,
      `${origin} was told to stop ${id}, and may not have done so yet; to follow it, or to go on: orrery resume ${id} --server ${origin}\n`,
    );
  } finally {
    reader.releaseLock();
    await Promise.all([child.stdout.cancel(), child.stderr.cancel(), child.status]);
    await server.shutdown();
  }
});

posixTest("a step there whose end is not known is named with the flags that decide about it", async () => {
  await using project = await testProject({
    "kill.calls": call("RunCommand:slow", { command: "sleep", args: '["5"]' }),
  });
  const child = project.start(["run", "kill.calls", "--allow-run", "--jsonl"]);
  const reader = child.stdout.getReader();
  await child.stdin.close();
  await readUntil(reader, '"call-run"');
  child.kill("SIGKILL");
  reader.releaseLock();
  await Promise.all([child.stdout.cancel(), child.stderr.cancel(), child.status]);
  await using there = await served(project);
  await using here = await testProject({});
  const resume = (args: readonly string[]) =>
    here.run(["resume", ...args, "--server", there.origin], { env: { ORRERY_TOKEN: TOKEN } });
  const id = await project.newest();
  const asked = await resume([]);
  assert.equal(asked.code, 1, asked.stderr);
  assert.ok(
    asked.stderr.includes(`orrery resume ${id} --server ${there.origin} --skip call:slow`),
    asked.stderr,
  );
  const both = await resume([id, "--rerun", "call:slow", "--skip", "call:slow"]);
  assert.match(both.stderr, /^error: --rerun call:slow and --skip call:slow cannot both be meant$/m);
  const skipped = await resume([id, "--skip", "all"]);
  assert.deepEqual([skipped.code, skipped.stdout], [0, "null\n"], skipped.stderr);
});
