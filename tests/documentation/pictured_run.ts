// The run that the pictures of README.md show: a model is asked whether a release can go out, and writes calls that begin while it is still
// writing. The model is a server on this machine that answers with the texts below, slowly; the checks are scripts that take their time.

import type { RunEvent } from "../../lib/core/event.ts";
import { type TestProject, testProject } from "../_project.ts";
import { providerServer } from "../_provider_server.ts";

const QUESTION = "Can version 2.4 go out?";
const FLAGS = ["--tools", "RunCommand,ReadFile", "--allow-run"];

/** As somebody would type it. */
export const PICTURED_COMMAND = `orrery ask "${QUESTION}" ${FLAGS.join(" ")}`;

const CALLS = `I run the checks side by side; the build waits for lint and types only.
${command("lint")}
${command("types")}
${command("tests")}
${command("build", ["lint", "types"])}
!!!GADGET_START:ReadFile:changes
!!!ARG:path
CHANGES.md
!!!GADGET_END
What was built is tried when the tests are done.
${command("trial", ["build", "tests"])}
`;

const ANSWER = `Yes. All 48 tests pass, and the package of 312 KB is built and starts.
CHANGES.md still says "unreleased" above 2.4: give it the date of today.
`;

function command(id: string, dependencies: readonly string[] = []): string {
  const header = ["RunCommand", id, ...(dependencies.length === 0 ? [] : [dependencies.join(",")])].join(":");
  return `!!!GADGET_START:${header}
!!!ARG:command
sh
!!!ARG:args/0
checks/${id}.sh
!!!GADGET_END`;
}

const FILES: Readonly<Record<string, string>> = {
  "CHANGES.md": "# Changes\n\n## 2.4 (unreleased)\n\n- Tables keep their widths.\n- Long lines are cut.\n",
  "checks/lint.sh": "sleep 1.3\n",
  "checks/types.sh": "sleep 1.7\n",
  "checks/tests.sh": "sleep 1.9\necho 25 of 48 tests pass\nsleep 1.3\necho 48 of 48 tests pass\n",
  "checks/build.sh": "sleep 1.3\necho dist/app.tgz, 312 KB\n",
  "checks/trial.sh": "sleep 0.7\n",
};

/** The run, with its project as long as that is needed. */
export interface PicturedRun extends AsyncDisposable {
  readonly project: TestProject;
  readonly id: string;
  readonly events: readonly RunEvent[];
}

/** Runs it; it takes as long as the recording. */
export async function picturedRun(): Promise<PicturedRun> {
  await using provider = providerServer([
    { parts: [{ text: piecesOf(CALLS, 6) }], usage: { input: 1184, output: 231 }, delayMs: 30 },
    { parts: [{ text: piecesOf(ANSWER, 4) }], usage: { input: 1672, output: 48 }, delayMs: 30 },
  ]);
  const project = await testProject({
    ...FILES,
    "../config/orrery/config.yaml": `models:
  default: lab/large
  providers: { lab: { type: openai, api: chat, baseURL: "${provider.url}/v1", apiKeyEnv: LAB_KEY } }
  prices: { lab/large: { input: 3, output: 15 } }
`,
  });
  try {
    const { code, stdout, stderr } = await project.run(["ask", QUESTION, ...FLAGS, "--jsonl"], {
      env: { LAB_KEY: "0123-abcd-4567-efgh" },
    });
    if (code !== 0) throw new Error(`The run of the pictures ended with ${code}: ${stderr}`);
    const events = stdout.trim().split("\n").map((line) => JSON.parse(line) as RunEvent);
    return {
      project,
      id: await project.newest(),
      events,
      [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
    };
  } catch (error) {
    await project[Symbol.asyncDispose]();
    throw error;
  }
}

function piecesOf(text: string, length: number): string[] {
  return Array.from(
    { length: Math.ceil(text.length / length) },
    (_, at) => text.slice(at * length, (at + 1) * length),
  );
}
