import { readInputValues } from "./input_values.ts";
import { readLlm } from "./llm_parameters.ts";
import type {
  FieldsOf,
  GotoFields,
  ImportFields,
  ReturnFields,
  RunFields,
  ShellFields,
} from "./operation_fields.ts";
import type { OperationName } from "./operation_table.ts";
import type { ParameterReader } from "./parameter_reader.ts";
import { anyFields, blocksField, headerField, mergeFields, promptField } from "./shared_parameters.ts";

const SECONDS = {
  isFine: (value: number): boolean => value > 0 && Number.isFinite(value),
  wanted: "a number of seconds above 0",
};

/** How the parameters of each operation are read: undefined where what is required is missing, or cannot be used. */
export const OPERATION_READERS: {
  readonly [Name in OperationName]: (reader: ParameterReader) => FieldsOf<Name> | undefined;
} = {
  import: readImport,
  llm: readLlm,
  shell: readShell,
  run: readRun,
  return: readReturn,
  goto: readGoto,
};

function readImport(reader: ParameterReader): ImportFields | undefined {
  const fields = { ...anyFields(reader), ...mergeFields(reader), ...blocksField(reader) };
  const file = reader.text("file");
  return file === undefined ? undefined : { name: "import", file, ...fields };
}

function readShell(reader: ParameterReader): ShellFields | undefined {
  const timeoutS = reader.number("timeout", SECONDS);
  const fields = {
    ...anyFields(reader),
    ...mergeFields(reader),
    ...headerField(reader),
    isGeneratedRun: reader.flag("run-generated") ?? false,
    env: readInputValues(reader, "env"),
    ...(timeoutS !== undefined && { timeoutS }),
  };
  const prompt = reader.text("prompt");
  if (prompt?.includes("\0")) reader.refuse("prompt", "prompt holds a NUL character, which no command can");
  return prompt === undefined ? undefined : { name: "shell", prompt, ...fields };
}

function readRun(reader: ParameterReader): RunFields | undefined {
  const fields = {
    ...anyFields(reader),
    ...mergeFields(reader),
    ...headerField(reader),
    ...promptField(reader),
    ...blocksField(reader),
    isGeneratedRun: reader.flag("run-generated") ?? false,
    inputs: readInputValues(reader, "inputs"),
  };
  const file = reader.text("file");
  if (reader.has("use-header") && !reader.has("prompt")) {
    reader.warn("use-header", "use-header has no effect without prompt");
  }
  return file === undefined ? undefined : { name: "run", file, ...fields };
}

function readReturn(reader: ParameterReader): ReturnFields {
  return {
    name: "return",
    ...anyFields(reader),
    ...headerField(reader),
    ...promptField(reader),
    ...blocksField(reader),
  };
}

function readGoto(reader: ParameterReader): GotoFields | undefined {
  const fields = { ...anyFields(reader), isRunOnce: reader.flag("run-once") ?? false };
  const [block, second] = reader.references("block") ?? [];
  if (block === undefined) return undefined;
  if (second === undefined && !block.endsWith("*")) return { name: "goto", block, ...fields };
  return reader.refuse("block", "@goto takes one block without /*");
}
