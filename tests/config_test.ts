import { Validator } from "@cfworker/json-schema";
import assert from "node:assert/strict";
import { join } from "node:path";
import { ProblemsError, type SourceError } from "../mod.ts";
import { acceptedConfig, type Config } from "../lib/catalog/config/config.ts";
import { findProjectRoot, loadConfig, type LoadConfigOptions } from "../lib/catalog/config/load.ts";
import { checkConfig } from "../lib/catalog/config/read.ts";
import { CONFIG_TABLE, configSchema } from "../lib/catalog/config/table.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { lookAt } from "../lib/host/paths.ts";
import { parseYaml } from "../lib/parse/yaml/yaml.ts";

/** Runs the test in a folder with these files. */
async function inFolder(
  files: Readonly<Record<string, string>>,
  test: (folder: string) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(join(folder, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    }
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function configOf(
  files: Readonly<Record<string, string>>,
  options: LoadConfigOptions = {},
): Promise<Config> {
  const found: Config[] = [];
  await inFolder(files, async (root) => {
    const userFolder = options.userFolder === undefined ? {} : { userFolder: join(root, options.userFolder) };
    const config = await loadConfig(root, hostFiles({ root }), { ...options, ...userFolder });
    found.push(JSON.parse(JSON.stringify(config).replaceAll(root, "/root")));
  });
  const [config] = found;
  assert.ok(config);
  return config;
}

async function problemsOf(
  files: Readonly<Record<string, string>>,
  options: LoadConfigOptions = {},
): Promise<readonly SourceError[]> {
  const outcome = await configOf(files, options).then((value) => value, (error: unknown) => error);
  assert.ok(outcome instanceof ProblemsError, `gave ${JSON.stringify(outcome)}`);
  return outcome.problems;
}

const linesOf = (problems: readonly SourceError[]) =>
  problems.map(({ place, message }) => `${place}: ${message}`);

Deno.test("config: without a file the defaults hold, and yaml is not loaded", async () => {
  const config = await configOf({});
  assert.deepEqual(config, {
    calls: { markers: { start: "!!!GADGET_START:", end: "!!!GADGET_END", arg: "!!!ARG:" } },
    gadgets: { folders: [{ path: "/root/gadgets" }], isolation: {} },
    grants: {},
    models: { aliases: {}, fallback: {}, providers: {}, prices: {} },
    mcpServers: {},
    limits: {
      concurrency: 16,
      timeoutMs: 60_000,
      resultBytes: 1_048_576,
      gadgetIdleMs: 30_000,
      gadgetMemoryBytes: 268_435_456,
      turns: 10,
      retries: 3,
      runs: 64,
    },
    documents: { showsOperations: false, limits: { goto: 30, toolTurns: 8, shellTimeoutS: 120 } },
    conversations: { steps: 250 },
    project: { grants: {}, isolation: {}, providers: {}, mcpServers: {}, parts: {} },
    notices: [],
  });
  assert.equal(await loadsYaml({}), false);
  assert.equal(await loadsYaml({ "orrery.yaml": "limits: { turns: 3 }\n" }), true);
});

/** Whether reading the configuration of these files loads the package `yaml`: the loader's log names every module. */
async function loadsYaml(files: Readonly<Record<string, string>>): Promise<boolean> {
  let log = "";
  await inFolder(files, async (root) => {
    const [config, host] = ["../lib/catalog/config/load.ts", "../lib/host/files/files.ts"].map((path) =>
      urlOf(path)
    );
    const script = join(root, "script.ts");
    await Deno.writeTextFile(
      script,
      `import { loadConfig } from ${JSON.stringify(config)}; import { hostFiles } from ${
        JSON.stringify(host)
      };
       const root = ${JSON.stringify(root)}; await loadConfig(root, hostFiles({ root }));`,
    );
    const configFile = ["--config", new URL(urlOf("../deno.json")).pathname];
    const args = [
      "run",
      "--no-lock",
      "--allow-read",
      "--allow-env",
      "--log-level=debug",
      ...configFile,
      script,
    ];
    const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, env: { NO_COLOR: "1" } })
      .output();
    log = new TextDecoder().decode(stderr);
    assert.equal(code, 0, log);
  });
  assert.match(log, /catalog\/config\/load\.ts/);
  return /yaml\/2\.\d+\.\d+\/[^\n]*\.js/.test(log);
}

const urlOf = (path: string) => new URL(path, import.meta.url).href;

Deno.test("config: what is written is read", async () => {
  const config = await configOf({
    "orrery.yaml": `
calls: { markers: { start: "<<<", end: ">>>" } }
gadgets:
  folders: [tools/, more]
  isolation: { weather: none }
grants: { weather: trusted }
limits: { concurrency: 4, timeout-s: 1.5, result-bytes: 10, turns: 7, retries: 0, tokens: 1000, cost: 0.5, time-s: 2.5,
  gadget-idle-s: 0.25, gadget-memory-mb: 64 }
tools-mode: native
`,
  });
  assert.deepEqual(config.calls.markers, { start: "<<<", end: ">>>", arg: "!!!ARG:" });
  assert.deepEqual(config.gadgets.folders.map(({ path }) => path), ["/root/tools", "/root/more"]);
  assert.deepEqual(config.gadgets.folders[0]?.written?.span, {
    file: "orrery.yaml",
    line: 4,
    column: 13,
    length: 6,
  });
  assert.deepEqual(config.limits, {
    concurrency: 4,
    timeoutMs: 1500,
    resultBytes: 10,
    gadgetIdleMs: 250,
    gadgetMemoryBytes: 67_108_864,
    turns: 7,
    retries: 0,
    runs: 64,
    tokens: 1000,
    cost: 0.5,
    timeMs: 2500,
  });
  assert.equal(config.toolsMode, "native");
  assert.deepEqual(config.notices, []);
});

Deno.test("config: a project's own word is kept apart from the user's", async () => {
  const config = await configOf({
    "orrery.yaml": "grants: { weather: trusted }\ngadgets: { isolation: { weather: none } }\n" +
      "mcpServers: { git: { command: git-mcp } }\nmodels: { default: a/b, providers: { x: { type: xai } } }\n",
    "user/config.yaml":
      "grants: { /p/Mine: trusted, web: trusted, RunCommand: trusted, run_command: trusted }\n" +
      "gadgets: { isolation: { ../gadgets/mine.ts: none, Mine: none }, folders: [here] }\n" +
      "mcpServers: { web: { url: http://x/mcp } }\nmodels: { providers: { openai: { baseURL: http://h/v1 } } }\n",
  }, { userFolder: "user" });
  assert.deepEqual(config.grants, {
    "/p/Mine": "trusted",
    web: "trusted",
    RunCommand: "trusted",
  });
  assert.deepEqual(config.gadgets.isolation, { "gadgets/mine.ts": "none" });
  const why = (name: string) =>
    `counts for nothing, since any project may have a gadget of that name; for the one of this project write "/root/${name}", ` +
    "or the path of its file.";
  assert.deepEqual(config.notices, [
    `user/config.yaml:1:64: grants of "run_command" ${why("run_command")} Did you mean "RunCommand"?`,
    `user/config.yaml:2:51: gadgets.isolation of "Mine" ${why("Mine")}`,
  ]);
  assert.deepEqual(config.gadgets.folders.map(({ path }) => path), ["/root/user/here"]);
  assert.equal(config.models.default, "a/b");
  assert.deepEqual(config.models.providers, { openai: { baseURL: "http://h/v1" } });
  assert.deepEqual(config.mcpServers, { web: { url: "http://x/mcp" } });
  const accepted = acceptedConfig(config);
  assert.deepEqual(accepted.models.providers, { openai: { baseURL: "http://h/v1" }, x: { type: "xai" } });
  assert.deepEqual(accepted.mcpServers, { web: { url: "http://x/mcp" }, git: { command: "git-mcp" } });
  assert.deepEqual(config.project, {
    grants: { weather: "trusted" },
    isolation: { weather: "none" },
    providers: { x: { type: "xai" } },
    mcpServers: { git: { command: "git-mcp" } },
    parts: {
      "grants": { weather: "trusted" },
      "gadgets.isolation": { weather: "none" },
      "mcpServers": { git: { command: "git-mcp" } },
      "models.providers": { x: { type: "xai" } },
    },
  });
});

Deno.test("config: project over user over defaults", async () => {
  const config = await configOf({
    "orrery.yaml": "limits: { concurrency: 2 }\ncalls: { markers: { start: '<<' } }\n",
    "user/config.yaml":
      "limits: { concurrency: 3, timeout-s: 5 }\ncalls: { markers: { start: 'no', arg: '--' } }\n",
  }, { userFolder: "user" });
  assert.deepEqual(config.limits, {
    concurrency: 2,
    timeoutMs: 5000,
    resultBytes: 1_048_576,
    gadgetIdleMs: 30_000,
    gadgetMemoryBytes: 268_435_456,
    turns: 10,
    retries: 3,
    runs: 64,
  });
  assert.deepEqual(config.calls.markers, { start: "<<", end: "!!!GADGET_END", arg: "--" });
});

Deno.test("config: all problems at once, each at its place", async () => {
  const problems = await problemsOf({
    "orrery.yaml": `limitz: {}
limits:
  concurency: 4
  concurrency: "8"
  timeout-s: 0
  result-bytes: 1.5
calls: []
gadgets:
  folders: gadgets/
  isolation: { a: container }
grants:
  b: trustd
  c: { raed: true, net: [1], read: yes }
  d:
`,
    "user/config.yaml": "model: x\n",
  }, { userFolder: "user" });
  assert.deepEqual(linesOf(problems), [
    'orrery.yaml:1:1: Unknown key "limitz". Did you mean "limits"?',
    'orrery.yaml:3:3: Unknown key "concurency" in limits. Did you mean "concurrency"?',
    'orrery.yaml:4:16: Found the text "8" for limits.concurrency, expected a whole number from 1',
    "orrery.yaml:5:14: Found the number 0 for limits.timeout-s, expected a number above 0 to 2147483",
    "orrery.yaml:6:17: Found the number 1.5 for limits.result-bytes, expected a whole number from 1",
    "orrery.yaml:7:8: Found a list for calls, expected a mapping",
    'orrery.yaml:9:12: Found the text "gadgets/" for gadgets.folders, expected a list',
    'orrery.yaml:10:19: Found the text "container" for gadgets.isolation.a, expected "none"',
    'orrery.yaml:12:6: Found the text "trustd" for grants.b, expected "trusted" or a mapping',
    'orrery.yaml:13:8: Unknown key "raed" in grants.c. Did you mean "read"?',
    "orrery.yaml:13:26: Found the number 1 for grants.c.net.0, expected text",
    'orrery.yaml:13:36: Found the text "yes" for grants.c.read, expected true or a list',
    'orrery.yaml:14:5: Found nothing for grants.d, expected "trusted" or a mapping',
    'user/config.yaml:1:1: Unknown key "model". Did you mean "models"?',
  ]);
  assert.equal(problems[2]?.hint, "Write it without quotes.");
  assert.equal(problems[8]?.hint, 'Did you mean "trusted"?');
  assert.equal(problems[12]?.hint, "Give it a value, or remove the key.");
  assert.ok(problems.every(({ source, span }) => source !== undefined && span !== undefined));
});

Deno.test("config: a file that is no configuration", async () => {
  assert.deepEqual(linesOf(await problemsOf({ "orrery.yaml": "- a\n" })), [
    "orrery.yaml:1:1: Found a list, expected a mapping",
  ]);
  assert.deepEqual(linesOf(await problemsOf({ "orrery.yaml": "a: [\n" })), [
    "orrery.yaml:1:5: Found the end of a list or mapping in brackets too early",
  ]);
  assert.deepEqual(linesOf(await problemsOf({ "orrery.yaml/x": "" })), [
    ': Cannot read "orrery.yaml": it is a folder, not a file',
  ]);
  assert.deepEqual((await configOf({ "orrery.yaml": "# later\n" })).limits.concurrency, 16);
  await inFolder({}, async (root) => {
    await Deno.writeFile(join(root, "orrery.yaml"), new Uint8Array([0x61, 0x3a, 0x20, 0xff]));
    await assert.rejects(
      loadConfig(root, hostFiles({ root })),
      /Cannot read "orrery\.yaml": it is not UTF-8 text: .* offset 3/,
    );
  });
});

Deno.test("config: markers and folders that cannot be used are told at their place", async () => {
  assert.deepEqual(
    linesOf(await problemsOf({ "orrery.yaml": "calls:\n  markers: { start: 'A', end: 'AB' }\n" })),
    [
      'orrery.yaml:2:3: Cannot tell the markers apart: start "A" is a prefix of end "AB"',
    ],
  );
  assert.deepEqual(
    linesOf(await problemsOf({ "orrery.yaml": "gadgets: { folders: [gadgets, ../other, /etc] }\n" })),
    [
      "orrery.yaml:1:31: Found a gadget folder outside the project, expected one inside it",
      "orrery.yaml:1:41: Found a gadget folder outside the project, expected one inside it",
    ],
  );
});

Deno.test("config: models that do not fit together are told at their place", async () => {
  const problems = await problemsOf({
    "orrery.yaml": `models:
  aliases: { a: b, b: a, fast: small, other: openai/gpt-5, deep: fast, slef: nothing }
  providers:
    local: { type: openai-compatible }
    mine: { baseURL: "localhost:1234" }
    script: { type: openai }
    openai: { baseURL: ftp://x }
  prices: { gpt: { input: 1, output: 2 }, openai/x: { input: 1 } }
mcpServers:
  none: { args: [a] }
  both: { command: c, url: u }
`,
    "user/config.yaml": "models: { aliases: { small: a } }\nmcpServers: { odd: { url: u, env: { A: b } } }\n",
  }, { userFolder: "user" });
  assert.deepEqual(linesOf(problems), [
    "orrery.yaml:2:17: The aliases of models go round in a circle: a -> b -> a",
    'orrery.yaml:2:78: Found "nothing", expected provider/model or another alias',
    "orrery.yaml:4:5: Found an openai-compatible provider without baseURL, expected one",
    "orrery.yaml:5:5: Found a provider without a type, expected one of openai, anthropic, google, mistral, xai, groq, openai-compatible",
    'orrery.yaml:5:22: Found "localhost:1234" for a baseURL, expected an address with http:// or https://',
    'orrery.yaml:6:5: Found a provider named "script", which Orrery has itself',
    'orrery.yaml:7:24: Found "ftp://x" for a baseURL, expected an address with http:// or https://',
    'orrery.yaml:8:13: Found a price for "gpt", expected provider/model',
    "orrery.yaml:8:43: Found a price without output, expected both",
    "orrery.yaml:10:3: Found a server without command and url, expected one of them",
    "orrery.yaml:11:3: Found a server with command and url, expected one kind",
    "user/config.yaml:2:15: Found a server with url and env, expected one kind",
  ]);
});

Deno.test("config: how many runs a server has at once", async () => {
  const config = await configOf({
    "orrery.yaml": "limits:\n  runs: 5\n  concurrency: 3\ngrants: { a: { net: [example.com] } }\n",
  });
  assert.equal(config.limits.concurrency, 3);
  assert.equal(config.limits.runs, 5);
  assert.deepEqual(config.notices, []);
  assert.equal((await configOf({ "orrery.yaml": "limits: {}\n" })).limits.runs, 64);
});

Deno.test("config: conversations; a file is named relative to the settings that name it", async () => {
  const files = {
    "user/config.yaml": "conversations: { collection: mine.yml, timeout-s: 5 }\nlimits: { steps: 7 }\n",
    "orrery.yaml": "conversations: { timeout-s: 1.5, embeddings: openai/text-embedding-3-small }\n",
  };
  await inFolder(files, async (root) => {
    const config = await loadConfig(root, hostFiles({ root }), { userFolder: join(root, "user") });
    assert.deepEqual(config.conversations, {
      collection: join(root, "user", "mine.yml"),
      embeddings: "openai/text-embedding-3-small",
      timeoutMs: 1500,
      steps: 7,
    });
    assert.deepEqual(config.notices, []);
  });
});

Deno.test("config: what is wrong with an agent is known before anybody wants one", async () => {
  const problems = await problemsOf({
    "orrery.yaml":
      "agentDefaults: { name: x, limits: { parallelTools: 0 } }\nagents:\n  - more.yaml\n  - { name: w, model: m, systemPromt: p }\n  - model: m\n",
  });
  assert.deepEqual(linesOf(problems), [
    'orrery.yaml:1:18: agentDefaults: unknown key "name"',
    "orrery.yaml:1:37: agentDefaults: limit parallelTools must be an integer from 1",
    'orrery.yaml:4:26: agent "w": unknown key "systemPromt". Did you mean "systemPrompt"?',
    "orrery.yaml:5:5: agents[2]: name is required",
    "orrery.yaml:5:5: agents[2]: give either systemPrompt or system",
  ]);
});

Deno.test("config: the user's own file has no prompts and no agents", async () => {
  const config = await configOf({
    "user/config.yaml": "prompts: { folders: [p] }\nagents: [{ name: w }]\n",
  }, { userFolder: "user" });
  assert.deepEqual(config.notices, [
    'user/config.yaml:1:1: "prompts" is ignored here: it belongs in the orrery.yaml of a project',
    'user/config.yaml:2:1: "agents" is ignored here: it belongs in the orrery.yaml of a project',
  ]);
});

Deno.test("config: files are named as seen from the working folder", async () => {
  await inFolder({ "orrery.yaml": "x: 1\n", "deep/er/y": "" }, async (root) => {
    const outcome = await loadConfig(root, hostFiles({ root }), { cwd: join(root, "deep", "er") }).catch((
      error: unknown,
    ) => error);
    assert.ok(outcome instanceof ProblemsError);
    assert.equal(outcome.problems[0]?.place, "../../orrery.yaml:1:1");
  });
});

const EVERYTHING = `
models: { default: a/b, aliases: { x: a/b }, fallback: { x: [y] }, prices: { a/b: { input: 1, output: 2, cached: 0, cacheWrite: 3 } },
  providers: { p: { type: openai-compatible, baseURL: u, apiKeyEnv: K, headers: { H: v }, queryParams: { q: v }, api: chat, structuredOutputs: true,
    contextTokens: 9, options: { o: [1] } } } }
tools-mode: blocks
calls: { markers: { start: a, end: b, arg: c } }
gadgets: { folders: [gadgets/], isolation: { A: none } }
grants: { A: trusted, B: { read: true, write: [out], net: [h], env: [E], run: [r], sys: [hostname] } }
mcpServers: { s: { command: c, args: [a], env: { E: v } }, t: { url: u, headers: { H: v } } }
prompts: { folders: [prompts/, { path: p, prefix: q }] }
tactics: { folders: [tactics/] }
agents: [{ name: n, model: m, system: s }, more.yaml]
agentDefaults: { model: m }
documents: { show-operations: true, temperature: 0.5, shell: bash }
conversations: { collection: c.yml, embeddings: a/b, timeout-s: 5 }
limits:
  { concurrency: 16, timeout-s: 60, turns: 10, retries: 3, tokens: 5, cost: 0.5, time-s: 9, goto: 30, tool-turns: 8,
    shell-timeout: 120, steps: 250, result-bytes: 1048576, gadget-idle-s: 30, gadget-memory-mb: 256, runs: 64 }
`;

Deno.test("config: the schema knows every key, and says the same as the reading", async () => {
  const validator = new Validator(configSchema() as ConstructorParameters<typeof Validator>[0], "2020-12");
  const agrees = async (text: string) => {
    const document = await parseYaml(text);
    const { problems } = checkConfig(document, CONFIG_TABLE, text);
    const { valid } = validator.validate(document.value);
    assert.equal(
      valid,
      problems.length === 0,
      `${text}\n${problems.map(({ message }) => message).join("\n")}`,
    );
    return valid;
  };
  assert.equal(await agrees(EVERYTHING), true);
  for (
    const text of [
      "limitz: 1",
      "limits: { turns: 0 }",
      "limits: { retries: 0 }",
      "limits: { retries: -1 }",
      "limits: { cost: 0 }",
      "limits: { timeout-s: 9999999 }",
      "limits: []",
      "tools-mode: both",
      "models: { providers: { p: { type: other } } }",
      "models: { providers: { p: { api: both } } }",
      "models: { providers: { p: { baseUrl: x } } }",
      "models: { prices: { m: { input: -1 } } }",
      "models: { prices: { m: 1 } }",
      "models: { fallback: { m: n } }",
      "models: { aliases: { m: '' } }",
      "grants: { a: trusted }",
      "grants: { a: false }",
      "grants: { a: { read: false } }",
      "grants: { a: { ffi: true } }",
      "gadgets: { folders: [''] }",
      "gadgets: { isolation: { a: process } }",
      "mcpServers: { a: { cmd: x } }",
      "agents: [1]",
      "agents: []",
      "prompts: { folders: [{ path: x, other: y }] }",
      "documents: { temperature: 3 }",
      "documents: { show-operations: 'yes' }",
      "{}",
    ]
  ) await agrees(text);
  const keys = (of: object): readonly string[] =>
    Object.entries(of).flatMap(([key, value]) =>
      value?.kind === undefined ? [] : [key, ...("keys" in value ? keys(value.keys) : [])]
    );
  const text = JSON.stringify(configSchema());
  for (const key of keys(CONFIG_TABLE.keys)) assert.ok(text.includes(`"${key}":{`), key);
});

Deno.test("project root: the nearest orrery.yaml, up to .git, the home folder, or a closed folder", async () => {
  const files = {
    "home/project/orrery.yaml": "",
    "home/project/a/b/x": "",
    "home/repo/.git/HEAD": "",
    "home/project/deep/repo/.git/HEAD": "",
    "home/project/deep/repo/a/x": "",
    "home/repo/a/x": "",
    "home/orrery.yaml": "",
    "home/plain/x": "",
    "home/worktree/.git": "gitdir: elsewhere",
    "home/worktree/orrery.yaml": "",
    "home/worktree/a/x": "",
    "home/odd/orrery.yaml/x": "",
    "home/odd/.git/x": "",
    "out/a/x": "",
    "orrery.yaml": "",
  };
  await inFolder(files, (folder) => {
    const rootIn = (cwd: string, path: string, { home = "home", look = lookAt } = {}) =>
      findProjectRoot(join(folder, path), { look, home: join(folder, home), cwd: join(folder, cwd) })
        .slice(folder.length + 1);
    const rootOf = (path: string, home = "home", look = lookAt) => rootIn("out/b", path, { home, look });
    assert.equal(rootOf("home/project"), "home/project");
    assert.equal(rootOf("home/project/a/b"), "home/project");
    assert.equal(
      rootOf("home/repo/a"),
      "home/repo/a",
      ".git ends the search before the home folder's file",
    );
    assert.equal(rootOf("home/worktree/a"), "home/worktree", "a folder with .git is looked at itself");
    assert.equal(rootOf("home/odd"), "home/odd", "a folder named orrery.yaml is no configuration");
    assert.equal(rootOf("home/plain"), "home", "the home folder is looked at last");
    assert.equal(rootOf("home/plain", "home/plain"), "home/plain", "and nothing above it");
    assert.equal(rootOf("out/a"), "");
    const closed = (path: string) =>
      path.startsWith(join(folder, "out", "orrery")) ? "closed" as const : lookAt(path);
    assert.equal(
      rootOf("out/a", "home", closed),
      "out/a",
      "a folder that may not be read ends the search",
    );
    assert.equal(
      rootIn("home/repo", "home/repo/a"),
      "home/repo",
      "without a configuration it is the working folder",
    );
    assert.equal(rootIn("home/repo/a/x", "home/repo/a"), "home/repo/a", "but not for a file outside of that");
    assert.equal(
      rootIn("home/project", "home/project/deep/repo/a"),
      "home/project",
      "a .git on the way is none of its own",
    );
    assert.equal(
      rootIn("home/project/deep", "home/project/deep/repo/a"),
      "home/project",
      "the working folder may belong to a project: what is kept there is found by its own search",
    );
    assert.equal(rootIn("home/plain", "home/plain/x", { home: "home/plain" }), "home/plain");
    assert.equal(
      findProjectRoot("/", { look: () => "nothing", cwd: "/" }),
      "/",
    );
  });
});
