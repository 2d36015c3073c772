import { type ContainerGadget, onlyFields, type World } from "../lib/core/core.ts";

interface Input {
  readonly path: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** `RunPrompt`: asks a prompt of the project; the engine of the run does it, in steps of that run. */
export default function runPrompt(_world: World): ContainerGadget<Input> {
  return {
    name: "RunPrompt",
    description:
      "Asks a prompt of the project and returns its answer: what the answer means by the prompt's contract, or its text " +
      "where it has none. The prompt is asked with its own tools, in a dialog of its own.",
    input: onlyFields({
      path: {
        type: "string",
        minLength: 1,
        description: 'The path of the prompt, such as "research/summarise"; orrery list prompts shows them.',
      },
      args: {
        type: "object",
        description: "The values of the prompt's variables, by name. Default: none.",
      },
    }, ["path"]),
    contains: "prompt",
    examples: [
      { input: { path: "review/code", args: { language: "TypeScript", text: "let x" } } },
      { input: { path: "greeting" }, comment: "a prompt without variables" },
    ],
    run() {
      throw new Error("RunPrompt works as a call of a run only: there it is the run that asks the prompt");
    },
  };
}
