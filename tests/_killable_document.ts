// A document with every kind of effect, whose commands and gadgets add a line to a file when they are done.

import type { Killable } from "./_killable.ts";
import { killableProject } from "./_killable.ts";
import type { TestProject } from "./_project.ts";

const MAIN = `---
model: script/replies.yaml
limits: { goto: 5, tool-turns: 4 }
---
# Plan

Do it all.

@import
file: parts/part.md

@shell
prompt: sleep 0.01; echo "$NAME" >> effects.txt
env: { NAME: quiet }
use-header: none

@llm
prompt: Work with tools
tools: [Once, Safe, fractalic_run]
use-header: "# Report"
save-to-file: out/report.md

@run
file: callee.md
prompt: Do this
block: plan

# Round

round1

@shell
prompt: |
  echo "$NAME" >> effects.txt
  sleep 0.01
  case $NAME in round1) echo round2;; round2) echo round3;; *) echo over;; esac
env: { NAME: { block: round } }
use-header: "# Round"
mode: replace
to: round

@goto
block: round
if: { block: round, not-equals: over }

@llm
prompt: Write an operation
run-generated: true
use-header: "# Generated"

@return
block: [report, round, generated/*]
prompt: The end
`;

const PART = `# Part

Imported text.

@shell
prompt: echo "$NAME" >> ../effects.txt; echo part is done
env: { NAME: part }
use-header: "# Part output"
`;

const CALLEE = `# Callee

@shell
prompt: echo "$NAME" >> effects.txt; echo callee is done
env: { NAME: callee }
use-header: "# Callee output"

@llm
model: script/replies.yaml
prompt: Callee question
tools: Safe
use-header: "# Callee answer"

@return
block: [callee-output, callee-answer]
`;

const TOOL_CALLEE = `# Sub

@shell
prompt: echo "$NAME" >> effects.txt; echo sub is done
env: { NAME: sub }
use-header: "# Sub output"

@return
block: sub-output
`;

/** Each reply may be given again: what a process has used up, the one that goes on with the run does not know. */
const REPLIES = [
  {
    when: "^Work with tools",
    chunks: ["I ", "look."],
    delayMs: 3,
    calls: [
      { name: "Once", input: { name: "one", ms: 8 } },
      { name: "Safe", input: { name: "two", ms: 4 } },
    ],
  },
  {
    when: "^two",
    calls: [
      { name: "Once", input: { name: "three", ms: 3 } },
      { name: "fractalic_run", input: { file: "sub.md" } },
      { name: "Safe", input: { name: "four", ms: 2 } },
    ],
  },
  { when: "^four", chunks: ["# Found\n\n", "All ", "done."], delayMs: 3 },
  { when: "^Callee question", calls: [{ name: "Safe", input: { name: "five", ms: 4 } }] },
  { when: "^five", chunks: ["Callee ", "says."], delayMs: 3 },
  {
    when: "^Write an operation",
    chunks: [
      "Here.\n\n",
      '@shell\nprompt: echo "$NAME" >> effects.txt; echo made\n',
      "env: { NAME: generated }\n",
    ],
    delayMs: 3,
  },
];

/** The document, and what it leaves behind. */
export const KILLABLE_DOCUMENT: Killable = {
  name: "a document",
  args: ["run", "main.md", "--trust", "Once,Safe", "--allow-run", "--allow-write"],
  files: ["main.ctx", "callee.ctx", "sub.ctx", "out/report.md"],
  quiet: ["one", "three", "quiet"],
};

/** The effects of the whole document, in their order. */
export const DOCUMENT_EFFECTS: readonly string[] = [
  "part",
  "quiet",
  "one",
  "two",
  "three",
  "sub",
  "four",
  "callee",
  "five",
  "round1",
  "round2",
  "round3",
  "generated",
];

/** A project with it. */
export async function killableDocument(): Promise<TestProject> {
  const project = await killableProject();
  const files = {
    "main.md": MAIN,
    "parts/part.md": PART,
    "callee.md": CALLEE,
    "sub.md": TOOL_CALLEE,
    "replies.yaml": JSON.stringify(REPLIES.map((reply) => ({ ...reply, repeat: true }))),
  };
  for (const [path, text] of Object.entries(files)) await project.write(path, text);
  return project;
}
