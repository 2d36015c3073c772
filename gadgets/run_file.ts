import { type ContainerGadget, onlyFields, type World } from "../lib/core/core.ts";

interface Input {
  readonly file: string;
  readonly prompt?: string;
  readonly inputs?: Readonly<Record<string, string>>;
}

/** `RunFile`: runs a document of the project; the engine of the run does it, in steps of that run. */
export default function runFile(_world: World): ContainerGadget<Input> {
  return {
    name: "RunFile",
    description:
      "Runs an executable Markdown document of the project and returns what it returns, as text; without an @return, the last " +
      "answer of a model in it. The document may do what the caller may, narrowed by its own front matter; no file is written for it.",
    input: onlyFields({
      file: {
        type: "string",
        minLength: 1,
        description: 'The document, relative to the project root: "plans/release.md".',
      },
      prompt: {
        type: "string",
        description: "What the document is asked: it is put before its first block. Default: nothing.",
      },
      inputs: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "The values of the inputs that the document declares, by name. Default: none.",
      },
    }, ["file"]),
    contains: "document",
    examples: [
      { input: { file: "plans/release.md", inputs: { version: "1.4.0" } } },
      { input: { file: "review.md", prompt: "Look at the error handling only." }, comment: "with a prompt" },
    ],
    run() {
      throw new Error("RunFile works as a call of a run only: there it is the run that runs the document");
    },
  };
}
