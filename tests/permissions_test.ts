// What a question to each provider really needs of Deno: the line of the page of help, run with nothing more, and with each part left out.

import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "./_project.ts";
import { providerServer, TEST_KEY } from "./_provider_server.ts";
import { PROJECT_ROOT, runProgram } from "./_run.ts";
import type { RunResult } from "./_run.ts";
import { isThorough } from "./_thorough.ts";

interface ProviderLine {
  readonly provider: string;
  /** Of its interface. */
  readonly host: string;
  readonly variable: string;
  readonly path: string;
  readonly more?: Readonly<Record<string, string>>;
}

const LINES: readonly ProviderLine[] = [
  { provider: "openai", host: "api.openai.com", variable: "OPENAI_API_KEY", path: "/v1" },
  { provider: "anthropic", host: "api.anthropic.com", variable: "ANTHROPIC_API_KEY", path: "/v1" },
  {
    provider: "google",
    host: "generativelanguage.googleapis.com",
    variable: "GOOGLE_GENERATIVE_AI_API_KEY",
    path: "/v1beta",
  },
  { provider: "mistral", host: "api.mistral.ai", variable: "MISTRAL_API_KEY", path: "/v1" },
  { provider: "xai", host: "api.x.ai", variable: "XAI_API_KEY", path: "/v1" },
  { provider: "groq", host: "api.groq.com", variable: "GROQ_API_KEY", path: "/openai/v1" },
  {
    provider: "lab",
    host: "llm.example.com:8443",
    variable: "LAB_API_KEY",
    path: "/v1",
    more: { type: "openai-compatible", apiKeyEnv: "LAB_API_KEY" },
  },
];

/** The flags of the page, in its order. */
function flagsOf({ host, variable }: Pick<ProviderLine, "host" | "variable">, orrery: string) {
  return {
    orrery: `--allow-read=${orrery}`,
    project: "--allow-read=.",
    journal: "--allow-write=.orrery",
    host: `--allow-net=${host}`,
    key: `--allow-env=${variable}`,
    rest: "--ignore-env",
    machine: "--allow-sys=hostname",
  };
}

type Flag = keyof ReturnType<typeof flagsOf>;

/** A project that asks the provider at a server of the test. */
async function lineProject(line: ProviderLine) {
  const server = providerServer({
    parts: [{ text: ["Hel", "lo"] }],
    usageAtEnd: line.provider === "mistral",
  });
  const baseURL = `${server.url}${line.path}`;
  const settings = { models: { providers: { [line.provider]: { ...line.more, baseURL } } } };
  const project = await testProject({ "orrery.yaml": JSON.stringify(settings) });
  return {
    project,
    run(without: Flag | undefined, more: readonly string[] = []): Promise<RunResult> {
      const flags = Object.entries(flagsOf({ ...line, host: server.host }, PROJECT_ROOT))
        .filter(([name]) => name !== without).map(([, flag]) => flag);
      const ask = ["ask", "Hi", "-q", "--trust-project", "-m", `${line.provider}/test`, ...more];
      return runProgram(
        [Deno.execPath(), "run", "--no-prompt", ...flags, join(PROJECT_ROOT, "main.ts"), ...ask],
        { cwd: project.folder, env: { ...project.env, [line.variable]: TEST_KEY }, timeoutMs: 15_000 },
      );
    },
    host: server.host,
    asked: () => server.requests.length,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

const WARNING = /^ {2}warn {2}The project is accepted for this run only.*\n/;

for (const line of LINES) {
  Deno.test(`permissions: ${line.provider} is asked with its own line and nothing more`, async () => {
    await using at = await lineProject(line);
    const { code, stdout, stderr } = await at.run(undefined);
    assert.deepEqual([code, stdout, stderr.replace(WARNING, "")], [0, "Hello", ""]);
    assert.equal(at.asked(), 1);
    const names = [...Deno.readDirSync(at.project.folder)].map(({ name }) => name).sort();
    assert.deepEqual(names, [".orrery", "orrery.yaml"]);
  });
}

const MISSING: Readonly<Record<Flag, (line: ProviderLine, host: string) => readonly [number, RegExp]>> = {
  orrery: () => [2, /^error: Deno may not read Orrery's own code: add --allow-read=.+ before main\.ts\n$/],
  project: () => [
    2,
    /^error: Cannot read "orrery\.yaml": Deno itself was started without --allow-read=.*orrery\.yaml\n$/,
  ],
  journal: () => [
    2,
    /^error: Cannot keep runs in ".*\.orrery": Deno itself was started without --allow-write=.*\.orrery\. --ephemeral runs without keeping anything\n$/,
  ],
  host: ({ provider }, host) => [
    5,
    new RegExp(
      `^error: ${provider}/test at ${host}: Deno itself was started without --allow-net=${host}\n$`,
    ),
  ],
  key: ({ provider, variable }) => [
    2,
    new RegExp(
      `^error: The model ${provider}/test needs a key from the variable ${variable}, which cannot be read: Deno itself was started without --allow-env=${variable}\n$`,
    ),
  ],
  rest: () => [
    2,
    /^error: Deno itself was started without --allow-env=\w+: add --ignore-env, and every variable that it may not read counts as not set\n$/,
  ],
  machine: () => [2, /^error: Deno itself was started without --allow-sys=hostname\n$/],
};

/** All of the openai line, and what is another for each provider: for one of them, and for all in the soak. */
const LEFT_OUT: readonly (readonly [ProviderLine, Flag])[] = LINES.slice(0, isThorough ? undefined : 2)
  .flatMap((line, index) =>
    (Object.keys(MISSING) as Flag[]).filter((flag) => index === 0 || flag === "host" || flag === "key")
      .map((flag) => [line, flag] as const)
  );

Deno.test("permissions: each one that is missing is named, without a stack trace", async () => {
  for (const [line, flag] of LEFT_OUT) {
    await using at = await lineProject(line);
    const { code, stdout, stderr } = await at.run(flag);
    const [wantedCode, says] = MISSING[flag](line, at.host);
    const said = stderr.replace(WARNING, "");
    assert.deepEqual([code, stdout], [wantedCode, ""], `${line.provider} without ${flag}: ${stderr}`);
    assert.match(said, says, `${line.provider} without ${flag}`);
    assert.equal(at.asked(), 0);
  }
});

Deno.test("permissions: a run that is not kept needs no write", async () => {
  const [line] = LINES;
  await using at = await lineProject(line ?? assert.fail());
  const { code, stdout } = await at.run("journal", ["--ephemeral"]);
  assert.deepEqual([code, stdout], [0, "Hello"]);
});

/** The row of the page for a provider. */
export function pageRow(line: ProviderLine): string {
  const name = line.provider === "lab" ? "openai-compatible" : line.provider;
  return `| ${name} | \`deno run --no-prompt ${
    Object.values(flagsOf(line, "ORRERY")).join(" ")
  } ORRERY/main.ts ask -m ${line.provider}/MODEL "Hi"\` |`;
}

Deno.test("permissions: the page of help has the line of each provider", async () => {
  const page = await Deno.readTextFile(join(PROJECT_ROOT, "lib/help/permissions.md"));
  for (const line of LINES) {
    const row = pageRow(line);
    assert.ok(page.includes(row), `lib/help/permissions.md has no\n${row}`);
  }
});
