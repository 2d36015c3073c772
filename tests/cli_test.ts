import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { bashCompletions } from "./_bash_completions.ts";
import { orrery, orreryCommand, PROJECT_ROOT, runProgram, testEnvironment } from "./_run.ts";

/** A folder of files that is gone afterwards; `.git` keeps the search for a project root inside. */
async function folderOf(
  files: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery cli " }));
  await Deno.mkdir(join(path, ".git"));
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(join(path, name, ".."), { recursive: true });
    await Deno.writeTextFile(join(path, name), text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** A block of the format, with its arguments. */
function call(header: string, args: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(args).map(([name, value]) => `!!!ARG:${name}\n${value}\n`);
  return `!!!GADGET_START:${header}\n${lines.join("")}!!!GADGET_END\n`;
}

const COMMANDS =
  "run ask chat check runs resume trace fork rm list show graph test trust serve mcp schema completions help init"
    .split(" ");

const sum = (header: string, expression = "1+1") => call(header, { expression });

Deno.test("version, help and the lack of a command", async () => {
  const config: { version: string } = JSON.parse(await Deno.readTextFile(join(PROJECT_ROOT, "deno.json")));
  const [version, short, help, runHelp, helpRun, nothing] = await Promise.all(
    [["--version"], ["-V"], ["--help"], ["run", "x", "--help"], ["help", "run"], []].map((args) =>
      orrery(args)
    ),
  );
  assert.deepEqual(version, { code: 0, stdout: `orrery ${config.version}\n`, stderr: "" });
  assert.equal(short?.stdout, version?.stdout);
  for (const name of COMMANDS) assert.match(help?.stdout ?? "", new RegExp(`^  ${name}\\b`, "m"));
  assert.equal(runHelp?.stdout, helpRun?.stdout);
  assert.match(runHelp?.stdout ?? "", /--allow-write\[=PATH,\.\.\.\]/);
  assert.deepEqual([runHelp?.code, nothing?.code, nothing?.stdout, nothing?.stderr], [
    0,
    2,
    "",
    help?.stdout,
  ]);
});

Deno.test("run: the value on stdout, everything else on stderr, text outside the blocks too", async () => {
  await using folder = await folderOf({ "a.calls": `Let me see.\n${sum("one")}${sum("two:b")}` });
  const { code, stdout, stderr } = await orrery(["run", "a.calls"], { cwd: folder.path });
  assert.equal(code, 1, "no gadget is called one or two");
  assert.equal(stdout, "");
  assert.match(stderr, /^Let me see\.\n {2}error one#1 {2}one\n {8}a\.calls:2: Unknown gadget "one"/);
});

Deno.test("check and run warn of a block inside an argument and of markers that are none, with their places", async () => {
  const text =
    "!!!GADGET_START:Wait\n!!!ARG:seconds\n0\n!!!GADGET_START:Wait\n!!!ARG:seconds\n0\n!!!GADGET_END\n" +
    " !!!GADGET_START:Wait\n!!!GADGET_STRT:Wait\n";
  await using folder = await folderOf({ "a.calls": text });
  const checked = await orrery(["check", "a.calls"], { cwd: folder.path });
  assert.match(
    `${checked.stdout}${checked.stderr}`,
    /^a\.calls:4:1: warning: .* ends the block before it[^\n]*\na\.calls:8:1: warning: [^\n]*\na\.calls:9:1: warning: [^\n]* Did you mean "!!!GADGET_START:"\?\n1 file, 0 errors, 3 warnings\n$/,
  );
  for (const [args, name] of [[["run", "a.calls"], "a.calls"], [["run", "-"], "stdin"]] as const) {
    const { stderr } = await orrery(args, { cwd: folder.path, stdin: text });
    for (const line of [4, 8, 9]) assert.ok(stderr.includes(`  warn  ${name}:${line}:1: `), stderr);
  }
});

Deno.test("run: one result as it is, text without a line end; several as an object", async () => {
  const text = call("Template", { template: "no line end" });
  const [one, number, several] = await Promise.all([
    orrery(["run", "-", "--quiet"], { stdin: text }),
    orrery(["run", "-", "-q"], { stdin: sum("Calculate") }),
    orrery(["run", "-", "-q"], {
      stdin: sum("Calculate:a") + sum("Calculate:b:a") + sum("Calculate:c", "3"),
    }),
  ]);
  assert.deepEqual(one, { code: 0, stdout: "no line end", stderr: "" });
  assert.deepEqual(number, { code: 0, stdout: "2\n", stderr: "" });
  assert.deepEqual(JSON.parse(several.stdout), { b: 2, c: 3 });
});

Deno.test("run --json and --jsonl, -o beside them", async () => {
  const input = sum("Calculate:a") + sum("Nothing:b") + sum("Calculate:c:b");
  await using folder = await folderOf({ "a.calls": input });
  const at = { cwd: folder.path };
  const [json, jsonl] = await Promise.all([
    orrery(["run", "a.calls", "--json", "-o", "deep/value.txt"], at),
    orrery(["run", "--jsonl", "a.calls", "--quiet"], at),
  ]);
  const report: Record<string, unknown> & { calls: Record<string, unknown>[] } = JSON.parse(json.stdout);
  assert.deepEqual([json.code, jsonl.code], [1, 1]);
  assert.deepEqual(Object.keys(report), ["run", "kind", "status", "value", "calls", "usage", "ms"]);
  assert.deepEqual([report.kind, report.status, report.value], ["calls", "failed", 2]);
  assert.deepEqual(report.calls.map(({ invocationId, status, code }) => [invocationId, status, code]), [
    ["a", "result", undefined],
    ["b", "error", "unknown-gadget"],
    ["c", "skip", undefined],
  ]);
  assert.equal(await Deno.readTextFile(join(folder.path, "deep/value.txt")), "2\n");
  const events = jsonl.stdout.trimEnd().split("\n").map((line): { type: string; seq: number } =>
    JSON.parse(line)
  );
  assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["run-start", "run-end"]);
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1));
  assert.match(jsonl.stderr, /^ {2}error b {2}Nothing\n.*\n {2}skip {2}c/, "quiet tells errors and skips");
});

Deno.test("run: a refusal names the flag, once more at the end, and the exit code is 5; with the flag it works", async () => {
  const input = call("WriteFile:w", { path: "out/a.txt", content: "x" }) + call("Mine:m") +
    sum("Calculate:c:m");
  await using folder = await folderOf({
    "a.calls": input,
    "gadgets/mine.ts":
      `export default { name: "Mine", description: "Gives 7.", permissions: { env: ["WORD"] }, run: () => 7 };`,
  });
  const at = { cwd: folder.path };
  const refused = await orrery(["run", "a.calls"], at);
  assert.equal(refused.code, 5);
  assert.match(
    refused.stderr,
    /refused; to allow it, add (--allow-write=out\S* --trust=Mine|--trust=Mine --allow-write=out\S*)\n$/,
  );
  const allowed = await orrery(["run", "a.calls", "--trust", "Mine", "--allow-write=out", "-q"], at);
  assert.deepEqual([allowed.code, allowed.stderr], [0, ""]);
  assert.equal(await Deno.readTextFile(join(folder.path, "out/a.txt")), "x");
  const denied = await orrery(["run", "a.calls", "-A", "--deny-write", "--trust=Mine", "-q"], at);
  assert.equal(denied.code, 5);
  assert.doesNotMatch(denied.stderr, /refused; to allow/, "no flag would help against --deny-write");
});

Deno.test("run: the flags of refusals are joined into one line that no shell can be tricked by", async () => {
  const paths = ["out", "log", "out", "a b", "$(rm -rf x)"];
  await using folder = await folderOf({
    "a.calls": paths.map((path, index) => call(`WriteFile:w${index}`, { path, content: "x" })).join(""),
  });
  const { code, stderr } = await orrery(["run", "a.calls", "--concurrency=1"], { cwd: folder.path });
  assert.equal(code, 5);
  assert.equal(
    stderr.trimEnd().split("\n").at(-1),
    "refused; to allow it, add --allow-write=out,log '--allow-write=a b' '--allow-write=$(rm -rf x)'",
  );
});

const WAITS =
  'version: "0.1"\nstructure: { id: a, action: { id: hi, message: { message: "Hi", hold: true } } }\n';

Deno.test("without orrery.yaml what is kept of a file below the working folder is found there; from elsewhere the way is told", async () => {
  await using folder = await folderOf({
    "sub/a.calls": sum("Calculate:a"),
    "sub/a.md": "# A\n\n@llm\nprompt: hi\n\n@return\nprompt: done\n",
    "sub/a.agent.yml": WAITS,
    "other/x": "",
  });
  const at = { cwd: folder.path, env: { XDG_STATE_HOME: join(folder.path, "state") } };
  const files = async (cwd: string): Promise<readonly string[]> =>
    JSON.parse((await orrery(["runs", "--json"], { ...at, cwd })).stdout).map(({ file }: { file: string }) =>
      file
    );
  await orrery(["run", "sub/a.calls"], at);
  await orrery(["run", "sub/a.md", "-m", "script/echo"], at);
  const held = await orrery(["run", "sub/a.agent.yml"], at);
  assert.deepEqual(await files(folder.path), ["sub/a.agent.yml", "sub/a.md", "sub/a.calls"]);
  const [, id = ""] = /^held; to go on: orrery resume (\w+)\n$/.exec(held.stderr) ?? [];
  assert.equal((await orrery(["resume", id, "--json"], at)).code, 0);

  const other = join(folder.path, "other");
  const elsewhere = await orrery(["run", "../sub/a.agent.yml"], { ...at, cwd: other });
  const [, there = "", second = ""] = /to go on: cd (\S+) && orrery resume (\w+)\n$/.exec(elsewhere.stderr) ??
    [];
  assert.equal(there, "../sub");
  assert.equal((await orrery(["resume", second, "--json"], { ...at, cwd: join(other, there) })).code, 0);
  assert.deepEqual([await files(other), await files(join(folder.path, "sub"))], [[], ["a.agent.yml"]]);
});

Deno.test("in a folder of a project files are named as they are typed there, whatever tells of them", async () => {
  await using folder = await folderOf({
    "orrery.yaml": "models: { default: script/echo }\n",
    "prompts/p.prompt.md": "Hi {name\n",
    "sub/a.md": "# A\n\n@llm\nprompt: hi\nblock: nowhere\n",
    "sub/b.md": '# B\n\n@shell\nprompt: "true"\n\n@import\nfile: gone.md\n',
    "sub/a.agent.yml": "version: 1\n",
    "sub/a.calls": call("Nope:n"),
  });
  const told = async (...args: string[]): Promise<readonly string[]> =>
    (await orrery(args, { cwd: join(folder.path, "sub") })).stderr.split("\n");
  const has = async (line: RegExp, ...args: string[]): Promise<void> => {
    const lines = await told(...args);
    assert(lines.some((each) => line.test(each)), `${args.join(" ")}: ${lines.join("\n")}`);
    assert(!lines.some((each) => each.includes("sub/")), lines.join("\n"));
  };
  await has(/^a\.md:5:1: error: no block/, "run", "a.md");
  await has(/^b\.md:6:1: error: @import: file not found: "gone.md"$/, "run", "b.md", "--allow-run");
  await has(/^ {2}ok {4}@shell b\.md:3 /, "run", "b.md", "--allow-run");
  await has(/^ {8}a\.calls:1: Unknown gadget/, "run", "a.calls");
  for (const command of ["run", "chat"]) await has(/^a\.agent\.yml:1:/, command, "a.agent.yml");
  await has(/^error: \.\.\/prompts\/p\.prompt\.md:1: /, "run", "p");
  await has(/^\.\.\/prompts\/p\.prompt\.md:1: /, "list", "prompts");
  await has(/^a\.agent\.yml:1:/, "list", "agents");
  assert.match((await orrery(["list", "documents"], { cwd: join(folder.path, "sub") })).stdout, /^a\.md /m);
});

Deno.test("run: settings of orrery.yaml count, flags win over them, markers too", async () => {
  await using folder = await folderOf({
    "orrery.yaml":
      `calls: { markers: { start: "@@call ", arg: "@@arg ", end: "@@end" } }\nlimits: { timeout-s: 0.05 }\n`,
    "sub/a.calls": "@@call Wait\n@@arg seconds\n0.4\n@@end\n",
    "plain.calls": sum("Calculate"),
  });
  const at = { cwd: folder.path };
  const [late, inTime, plain] = await Promise.all([
    orrery(["run", "sub/a.calls", "--json"], at),
    orrery(["run", "sub/a.calls", "--json", "--timeout", "20"], at),
    orrery(["run", "plain.calls"], at),
  ]);
  const codes = [late, inTime].map(({ stdout }) => JSON.parse(stdout).calls[0].code ?? "none");
  assert.deepEqual(codes.at(1), "none");
  assert(["timeout", "none"].includes(codes[0]), "Wait may have a timeout of its own");
  assert.match(plain.stderr, /no line of "plain\.calls" begins with @@call /);
});

Deno.test("run: a project's own grants count only after --trust-project, and from then on", async () => {
  await using folder = await folderOf({
    "orrery.yaml": "grants: { Mine: trusted }\n",
    "gadgets/mine.ts":
      `export default { name: "Mine", description: "Gives 7.", permissions: { env: ["WORD"] }, run: () => 7 };`,
    "a.calls": call("Mine"),
  });
  const at = { cwd: folder.path, env: { XDG_STATE_HOME: join(folder.path, "state") } };
  const before = await orrery(["run", "a.calls"], at);
  assert.equal(before.code, 5);
  assert.match(before.stderr, /orrery\.yaml: grants count as absent.*--trust-project/);
  const accepted = await orrery(["run", "a.calls", "--trust-project", "-q"], at);
  assert.deepEqual([accepted.code, accepted.stdout], [0, "7\n"]);
  const after = await orrery(["run", "a.calls", "-q"], at);
  assert.deepEqual([after.code, after.stdout], [0, "7\n"]);
  await Deno.writeTextFile(join(folder.path, "orrery.yaml"), "grants: { Mine: trusted, other: trusted }\n");
  assert.equal((await orrery(["run", "a.calls", "-q"], at)).code, 5, "what changed must be accepted again");
});

Deno.test("run -: the first call ends before the second is written", async () => {
  const [program = "", ...args] = [...orreryCommand(), "run", "-", "--jsonl", "-q"];
  const child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: testEnvironment(),
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  const readUntil = async (text: string) => {
    while (!seen.includes(text)) {
      const { value, done } = await reader.read();
      assert(!done, `the stream ended before ${text}: ${seen}`);
      seen += value;
    }
  };
  // A block is over at its END line, a character cut in the middle goes on in the next chunk.
  const first = new TextEncoder().encode(call("Template:first", { template: "ünï" }));
  const cut = first.indexOf(0xc3) + 1;
  await writer.write(first.subarray(0, cut));
  await writer.write(first.subarray(cut));
  await readUntil(`"call-result","invocationId":"first","line":1,"result":"ünï"`);
  await writer.write(new TextEncoder().encode(sum("Calculate:second:first")));
  await readUntil(`"call-result","invocationId":"second"`);
  await writer.close();
  await readUntil(`"run-end","status":"done"`);
  await reader.cancel();
  assert.equal((await child.status).code, 0);
});

Deno.test("Ctrl-C: once the run ends in order with 130, also while stdin says nothing", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: there are no such signals on Windows");
  const [program = "", ...args] = [...orreryCommand(), "run", "-", "--json"];
  const child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: testEnvironment(),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(
    new TextEncoder().encode(
      sum("Calculate:quick") + call("Wait:slow", { seconds: "60" }) + sum("Calculate:after:slow"),
    ),
  );
  const errors = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  for (let seen = ""; !seen.includes("ok    quick");) {
    const { value, done } = await errors.read();
    assert(!done, seen);
    seen += value;
  }
  const started = performance.now();
  child.kill("SIGINT");
  const [stdout, status] = await Promise.all([new Response(child.stdout).text(), child.status]);
  assert(performance.now() - started < 5000);
  await errors.cancel();
  await writer.abort().catch(() => {});
  const report: { status: string; calls: { invocationId: string; status: string }[] } = JSON.parse(stdout);
  assert.equal(status.code, 130);
  assert.equal(report.status, "stopped");
  assert.deepEqual(report.calls.map((one) => [one.invocationId, one.status]), [["quick", "result"], [
    "slow",
    "error",
  ], ["after", "skip"]]);
});

Deno.test("one Ctrl-C is enough while nothing comes: a pipe without a writer, a silent stdin", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows has no named pipes in folders");
  await using folder = await folderOf({ "prompts/p.prompt.md": "Say {x}.\n" });
  const { code } = await new Deno.Command("mkfifo", { args: [join(folder.path, "pipe.calls")] }).output();
  assert.equal(code, 0);
  const [program, ...args] = orreryCommand();
  const silent = [["run", "pipe.calls"], ["run", "p", "--input", "-"], [
    "show",
    "prompt",
    "p",
    "--input",
    "-",
  ]];
  for (const words of silent) {
    if (words[1] === "pipe.calls" && Deno.version.deno.startsWith("2.6.")) {
      console.log("not run here: Deno 2.6 opens a pipe on the very thread that would hear of Ctrl-C");
      continue;
    }
    const child = new Deno.Command(program, {
      args: [...args, ...words],
      cwd: folder.path,
      clearEnv: true,
      env: testEnvironment(),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const ended = child.output();
    const timers = [1_500, 6_000, 6_500].map((ms) =>
      setTimeout(() => {
        try {
          child.kill(ms === 1_500 ? "SIGINT" : "SIGKILL");
        } catch { /* it has ended */ }
      }, ms)
    );
    const { code, stdout, stderr } = await ended;
    timers.forEach(clearTimeout);
    await child.stdin.close().catch(() => {});
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 130, `${words.join(" ")}: ${said}`);
    assert.doesNotMatch(said, /error|JSON/, words.join(" "));
  }
});

Deno.test("list and show tell the same of a gadget, and a module that is looked at can do nothing", async () => {
  await using folder = await folderOf({
    "gadgets/evil.ts":
      `await Deno.writeTextFile("loaded.txt", ""); export default { name: "Evil", run() {} };`,
    "gadgets/$(touch x).ts": `throw new Error("no");`,
    "gadgets/quiet.ts":
      `export default { name: "Quiet", description: "q", permissions: { env: ["WORD"] }, run() {} };`,
  });
  const at = { cwd: folder.path };
  const [table, json, names, page, data, evil, unknown] = await Promise.all([
    ["list"],
    ["list", "gadgets", "--json"],
    ["list", "gadgets", "--names"],
    ["show", "gadget", "ReadFile"],
    ["show", "gadget", "ReadFile", "--json"],
    ["show", "gadget", "evil"],
    ["show", "gadget", "ReadFlie"],
  ].map((args) => orrery(args, at)));
  assert.match(table?.stdout ?? "", /^NAME +SOURCE +STATE +NEEDS +GRANT\nReadFile +built in +ready +read\n/);
  assert.match(table?.stdout ?? "", /^evil +gadgets\/evil\.ts +broken +\?$/m);
  assert.match(
    table?.stdout ?? "",
    /^Quiet +gadgets\/quiet\.ts +ready +env/m,
    "no trust is needed to be looked at",
  );
  const rows: { name: string; state: string; permissions?: unknown }[] = JSON.parse(json?.stdout ?? "");
  assert.deepEqual(rows.find(({ name }) => name === "ReadFile")?.permissions, { read: true });
  assert.equal(rows.find(({ name }) => name === "evil")?.state, "broken");
  assert.equal(rows.find(({ name }) => name === "$(touch x)")?.state, "broken");
  assert.match(names?.stdout ?? "", /^ReadFile\n/);
  assert.doesNotMatch(names?.stdout ?? "", /touch/, "a name that cannot be called is not offered to a shell");
  assert.match(
    page?.stdout ?? "",
    /^ReadFile {2}\(built in\)\n[^]*^ {2}path +string +required[^]*^!!!GADGET_START:ReadFile\n!!!ARG:path\n/m,
  );
  assert.equal(JSON.parse(data?.stdout ?? "").input.required[0], "path");
  assert.deepEqual([evil?.code, unknown?.code], [1, 2]);
  assert.match(evil?.stderr ?? "", /Cannot load gadgets\/evil\.ts:1:\d+: .*loaded\.txt/);
  assert.match(unknown?.stderr ?? "", /No gadget is called "ReadFlie"\. Did you mean "ReadFile"\?/);
  await assert.rejects(Deno.stat(join(folder.path, "loaded.txt")));
});

Deno.test("graph: as text, Mermaid and SVG, with what cannot run in the picture and on stderr", async () => {
  const input = sum("Calculate:a") + sum("Calculate:b:a,gone") + sum("Calculate:c:d") + sum("Calculate:d:c") +
    call("no good");
  await using folder = await folderOf({ "a.calls": input });
  const at = { cwd: folder.path };
  const [text, mermaid, svg] = await Promise.all([
    orrery(["graph", "a.calls"], at),
    orrery(["graph", "-", "--format", "mermaid"], { ...at, stdin: input }),
    orrery(["graph", "a.calls", "--format=svg", "-o", "a.svg"], at),
  ]);
  assert.match(text.stdout, /^b +Calculate +← a, gone$/m);
  assert.match(text.stdout, /┌/);
  assert.match(mermaid.stdout, /^flowchart TD\n {2}n0\["a<br\/>Calculate"\]/);
  assert.deepEqual([text.code, mermaid.code, svg.code, svg.stdout], [0, 0, 0, ""]);
  assert.match(await Deno.readTextFile(join(folder.path, "a.svg")), /^<svg/);
  const lines = text.stderr.trimEnd().split("\n");
  assert.match(lines[0] ?? "", /^a\.calls:5: error: depends on "gone", which is never called$/);
  assert.match(text.stderr, /^a\.calls:9: error: "c" is on a cycle: c -> d -> c$/m);
  assert.match(text.stderr, /^a\.calls:17: error: Cannot read header "no good"/m);
});

Deno.test("completions for bash complete commands, flags, choices, files and gadgets", async () => {
  await using folder = await folderOf({ "my file.calls": "", "gadgets/$(touch hacked).ts": "" });
  const offered = await bashCompletions([
    ["orrery", "gr"],
    ["orrery", "run", "--conc"],
    ["orrery", "graph", "--format", "m"],
    ["orrery", "graph", "--format", "=", "s"],
    ["orrery", "run", "my"],
    ["orrery", "run", "-o", "x", "my"],
    ["orrery", "run", "--allow-read", "=", "my"],
    ["orrery", "show", "ga"],
    ["orrery", "show", "gadget", "Rea"],
    ["orrery", "show", "gadget", "$"],
    ["orrery", "completions", "p"],
    ["orrery", "run", "a.calls", "--trust", "Fin"],
  ], { cwd: folder.path });
  if (offered === undefined) return;
  const { stdout, stderr } = offered;
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    "graph|",
    "--concurrency|",
    "mermaid|",
    "svg|",
    "my file.calls|",
    "my file.calls|",
    "my file.calls|",
    "gadget|",
    "ReadFile|",
    "|",
    "powershell|",
    "Finish|",
  ], stderr);
  await assert.rejects(Deno.stat(join(folder.path, "hacked")), "a name is never run");
});

Deno.test("completions for the other shells are read by them without a mistake", async (t) => {
  const checks: readonly (readonly [shell: string, program: string, ...args: string[]])[] = [
    ["zsh", "zsh", "-n"],
    ["fish", "fish", "--no-execute"],
    ["powershell", "pwsh", "-NoProfile", "-File"],
  ];
  await using folder = await folderOf({});
  const { stdout: offers } = await orrery(["complete", ":"]);
  const offered = offers.trimEnd().split("\n").map((line) => line.split("\t", 1)[0]);
  assert.deepEqual(offered.toSorted(), [...COMMANDS, "--help", "--version"].toSorted());
  for (const [shell, ...command] of checks) {
    await t.step(shell, async () => {
      const { code, stdout } = await orrery(["completions", shell]);
      assert.equal(code, 0);
      assert(stdout.includes("orrery complete ") || shell === "zsh", stdout);
      const file = join(folder.path, `script.${shell === "powershell" ? "ps1" : shell}`);
      await Deno.writeTextFile(file, stdout);
      const read = await runProgram([...command, file]).catch(() => undefined);
      if (read === undefined) {
        return console.log(`not run here: ${basename(command[0] ?? "")} is not installed`);
      }
      assert.deepEqual([read.code, read.stderr], [0, ""]);
    });
  }
});

Deno.test("--json and --jsonl cannot both have stdout, whatever runs", async () => {
  for (const args of [["run", "a.calls"], ["ask", "Hi"], ["resume"]]) {
    const { code, stdout, stderr } = await orrery([...args, "--json", "--jsonl"]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.equal(
      stderr,
      `error: --json and --jsonl cannot both have stdout; choose one\nTry: orrery ${args[0]} --help\n`,
    );
  }
});
