// Starts a run or a conversation of the service in a folder, and writes the type of each event in a line of its own; the first line is the id
// of what was started. It is killed by the test that started it.
import type { RunEvent } from "../mod.ts";
import { newRunId } from "../lib/journal/new_run.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import type { ReadyRun, StartPlace } from "../lib/service/start/ready_run.ts";
import type { RunHandle } from "../lib/service/service.ts";
import { startCallFile } from "../lib/service/start/calls.ts";
import { startPrompt } from "../lib/service/start/prompt.ts";
import { startAsk, startDocument } from "../lib/service/start/start.ts";
import { openTalks } from "../lib/service/talks/talks.ts";
import { runKept, startPlace } from "./_start_place.ts";
import { talkHost } from "./_talk_host.ts";

/** What the documents and the calls of these tests may do. */
export const KILLED_GRANTS = {
  ...NO_GRANTS,
  settings: parsePolicyFlags([{ name: "allow-run", value: true }, { name: "allow-write", value: true }]),
};

/** The runs, by what they are named in tests. */
export const KILLED_KINDS: Readonly<Record<string, (at: StartPlace) => Promise<ReadyRun>>> = {
  document: (at) => startDocument({ kind: "file", file: "plan.md" }, at),
  prompt: (at) => startPrompt({ kind: "prompt", path: "slow", model: "script/slow.yml" }, at),
  ask: (at) => startAsk({ kind: "ask", profile: "helper", messages: [{ role: "user", content: "Go" }] }, at),
  calls: (at) => startCallFile({ file: "go.calls" }, at),
};

/** What is said to the agent. */
export const SAID = ["Ann", "no"];

const write = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const tell = ({ type }: RunEvent) => write(type);

async function run(kind: string, folder: string): Promise<void> {
  const start = KILLED_KINDS[kind];
  if (start === undefined) throw new Error(`there is no ${kind}`);
  await using place = await startPlace(folder, { grants: KILLED_GRANTS });
  const id = newRunId(Date.now());
  write(id);
  await runKept(await start(place), { place, id, onEvent: tell });
}

async function talk(folder: string): Promise<void> {
  await using host = talkHost(folder);
  const { talk, turn } = await openTalks(host).begin({ agent: "guide.agent.yml" });
  write(talk.id);
  await follow(turn);
  for (const text of SAID) await follow(await talk.say(text));
}

async function follow(turn: RunHandle): Promise<void> {
  const reader = turn.read({ after: 0 });
  for (let frames; (frames = await reader.next({ maxBytes: 65_536 })) !== undefined;) {
    for (const frame of frames) if ("event" in frame) tell(frame.event);
  }
}

if (import.meta.main) {
  const [kind = "", folder = ""] = Deno.args;
  await (kind === "talk" ? talk(folder) : run(kind, folder));
}
