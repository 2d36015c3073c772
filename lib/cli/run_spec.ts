import type { CommandSpec } from "./flag.ts";
import {
  ASKED_AT_TERMINAL,
  budget,
  callFlags,
  conversationFlags,
  documentFlags,
  model,
  outputFlags,
  profile,
  promptFlags,
} from "./flag_groups.ts";

/** `orrery run`: apart from the other commands, because how fast it starts counts. */
export const RUN = {
  name: "run",
  summary: "Runs calls from a file or stdin, a document, an agent, or a prompt.",
  arguments: [
    {
      name: "FILE|PROMPT",
      required: true,
      names: "file-or-prompt",
      help:
        'A file that ends with ".calls", a document that ends with ".md", an agent that ends with ".agent.yml", - for calls on stdin, or the path of a ' +
        "prompt or a tactic of the project.",
    },
  ],
  flags: [
    ...promptFlags,
    model,
    profile,
    budget,
    {
      name: "say",
      kind: "texts",
      value: "TEXT",
      help:
        "Of a conversation: a message to the agent. May be repeated: each is said when the agent waits for one.",
    },
    ...conversationFlags,
    ...documentFlags,
    ...outputFlags,
    ...callFlags,
  ],
  notes: [
    "A call starts the moment the calls it depends on are done, also while the rest is still being written.",
    "The result goes to stdout: text as it is, everything else as JSON; progress and errors go to stderr. Several results are one " +
    "JSON object by id. A file without calls is no error: it has no result, and a notice says so.",
    "A prompt gives what its answer means by its contract, as JSON; text where it has none. --input gives its variables their values; of a " +
    "tactic, --input task=TEXT is what it is asked, and several are one object.",
    "Values are looked at before anything is asked: a name of --input that the prompt does not have is an error, and text for a *.prompt file " +
    "is read as its input.schema wants it (5, true). A JSON object may hold more than the prompt takes.",
    "Of a call file --model is the model of the prompts that it calls by RunPrompt and that name none themselves, and --budget holds for all " +
    "of them.",
    ASKED_AT_TERMINAL,
    "Exit codes of a call file: 0 every call gave a result, 5 a call was refused, 1 a call failed for any other reason, such as a budget.",
    "Exit codes of a prompt: 0 answered, 1 failed, 4 no answer kept to the contract, 5 a permission was refused, 6 the budget is used up, 7 the " +
    "provider or the network, 124 the provider was silent for too long.",
    "A document is checked whole before anything of it runs. What it gives goes to stdout: what it returns, else the last answer of a model; " +
    "the document with its results goes beside it, as .ctx, or where --out says.",
    "Exit codes of a document: 0 done, 1 an operation failed, 6 the budget is used up, 124 the time of the run is over.",
    "An agent begins a conversation, up to where it waits for a message: --say says one. What it says goes to stdout, messages divided by an empty " +
    "line. The conversation is kept: orrery resume goes on with it, orrery chat talks with an agent in the terminal.",
    "Exit codes of an agent: 0 it waits for a message or has come to its end, 1 a step failed, 5 a permission was refused, 6 the budget is used up, 7 the provider " +
    "or the network.",
    "Exit codes of all: 2 usage, configuration or something else that was found before anything ran, 130 interrupted.",
    "Ctrl-C once ends the run in order; twice ends it at once. Either way it is kept in .orrery/orrery.db of the project and orrery resume " +
    "goes on with it.",
  ],
  examples: [
    { line: "orrery run release.calls", does: "runs a file" },
    { line: "model | orrery run -", does: "runs calls while they are being written" },
    {
      line: "orrery run report.calls --allow-write=out -o report.md",
      does: "lets it write to out/, keeps the result",
    },
    { line: "orrery run plan.md --allow-run", does: "runs a document, which may run commands" },
    { line: "orrery run review/code --input file=@main.ts", does: "asks a prompt of the project" },
    { line: 'orrery run support.agent.yml --say "hello"', does: "begins a conversation and says something" },
  ],
} as const satisfies CommandSpec;
