// The six operations and their parameters, in the order of the table (documents.md 4), which decides between equally near names.

/** What may stand between the headings of a document. */
export type OperationName = "import" | "llm" | "shell" | "run" | "return" | "goto";

/** In the order in which near misses are looked up. */
export const OPERATION_NAMES: readonly OperationName[] = ["import", "llm", "shell", "run", "return", "goto"];

/** Which operations take each parameter. */
export const PARAMETERS: Readonly<Record<string, readonly OperationName[]>> = {
  prompt: ["llm", "shell", "run", "return"],
  block: ["import", "llm", "run", "return", "goto"],
  file: ["import", "run"],
  to: ["import", "llm", "shell", "run"],
  mode: ["import", "llm", "shell", "run"],
  "use-header": ["llm", "shell", "run", "return"],
  "run-once": ["import", "llm", "shell", "run", "goto"],
  if: OPERATION_NAMES,
  "on-error": OPERATION_NAMES,
  "run-generated": ["llm", "shell", "run"],
  context: ["llm"],
  media: ["llm"],
  "save-to-file": ["llm"],
  "header-auto-align": ["llm"],
  provider: ["llm"],
  model: ["llm"],
  temperature: ["llm"],
  "stop-sequences": ["llm"],
  tools: ["llm"],
  "tools-turns-max": ["llm"],
  retries: ["llm"],
  schema: ["llm"],
  env: ["shell"],
  timeout: ["shell"],
  inputs: ["run"],
};

const NAMES: ReadonlySet<string> = new Set(OPERATION_NAMES);

export function isOperationName(word: string): word is OperationName {
  return NAMES.has(word);
}

/** The parameters of an operation, in the order of the table. */
export function parametersOf(name: OperationName): readonly string[] {
  return Object.keys(PARAMETERS).filter((parameter) => takes(name, parameter));
}

/** Whether an operation has a parameter of this name. */
export function takes(name: OperationName, parameter: string): boolean {
  return Object.hasOwn(PARAMETERS, parameter) && PARAMETERS[parameter]?.includes(name) === true;
}

/** Of each group one has to be there; an empty, wrong or misspelt one is told where it stands. */
export const REQUIRED: Readonly<Record<OperationName, readonly string[]>> = {
  import: ["file"],
  llm: ["prompt", "block"],
  shell: ["prompt"],
  run: ["file"],
  return: ["prompt", "block"],
  goto: ["block"],
};
