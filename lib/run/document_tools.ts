import type { ContainerGadget } from "../core/container_gadget.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { didYouMean } from "../parse/document_near.ts";
import { CALLEE_TOOL } from "../parse/tool_choice.ts";
import type { ContainerCall } from "./container.ts";
import type { DocumentTools } from "./document_calls.ts";
import type { Operation } from "./document_operation.ts";
import type { DocumentEnd } from "./document_run.ts";
import { fileValue, meansOfCall, wantedFile } from "./called_file.ts";
import { CallError } from "./call_step.ts";
import { OperationError } from "./operation_error.ts";
import { toolSpecOf } from "./tool_spec.ts";

/** Runs a document for a call of a tool. @throws what keeps it from being run */
export type RunCallee = (
  operation: Operation,
  wanted: {
    readonly file: string;
    readonly prompt?: string;
    readonly blocks: readonly string[];
    readonly inputs?: Readonly<Record<string, string>>;
    /** Before the keys of its steps. */
    readonly keyPrefix: string;
  },
) => Promise<DocumentEnd>;

const calleeTool: ContainerGadget = {
  name: CALLEE_TOOL,
  description: "Runs another Markdown document of the project and returns what it returns.",
  contains: "callee",
  input: {
    type: "object",
    properties: {
      file: { type: "string", description: "The document, relative to the one that calls." },
      file_path: { type: "string", description: "The same as file." },
      prompt: {
        type: "string",
        description: "What the document is asked: it is put before its first block.",
      },
      block: {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        description: "References to blocks of the calling document that are put before its first block.",
      },
      block_uri: {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        description: "The same as block.",
      },
    },
  },
  run() {
    throw new Error(`${CALLEE_TOOL} is done by the document that offers it`);
  },
};

/** What an @llm offers its model (documents.md 8.1). @throws {OperationError} for a tool that is unknown */
export async function documentTools(
  operation: Operation<LlmFields>,
  runCallee: RunCallee,
): Promise<DocumentTools> {
  const { fields, file, means } = operation;
  const choice = fields.tools ?? file.settings.tools ?? "none";
  const gadgets = new Map<string, AnyGadget>();
  for (const name of choice === "none" ? [] : choice === "all" ? await allNames(operation) : choice) {
    gadgets.set(name, await find(name, operation));
  }
  return {
    gadgets,
    specs: [...gadgets.values()].map(toolSpecOf),
    limits: means.calls,
    containers: {
      callee: (call) => callee(call, { operation, runCallee }),
      document: (call) => calledFile(call, { operation, runCallee }),
      // What prompts may do is not known to be within what front matter allows.
      ...(operation.narrowing.limits.length > 0 && { prompt: noPrompts }),
    },
  };
}

function noPrompts(): Promise<Json> {
  return Promise.reject(
    new CallError(
      "RunPrompt cannot run here: the front matter narrows what this document may do",
      "unavailable",
    ),
  );
}

/** `RunFile` in a document: as in any other run, so that its path is relative to the project root. @throws what the call is to fail with */
async function calledFile(
  { parameters, keyPrefix }: ContainerCall,
  { operation, runCallee }: { readonly operation: Operation; readonly runCallee: RunCallee },
): Promise<Json> {
  const wanted = wantedFile(parameters);
  const caller = { ...operation, from: "", means: meansOfCall(operation.means) };
  return fileValue(await runCallee(caller, { ...wanted, blocks: [], keyPrefix }));
}

async function allNames({ means }: Operation): Promise<readonly string[]> {
  return [...await means.tools.names(), CALLEE_TOOL];
}

async function find(name: string, { means }: Operation): Promise<AnyGadget> {
  if (name === CALLEE_TOOL) return calleeTool;
  const gadget = await means.tools.find(name);
  if (gadget !== undefined) return gadget;
  throw new OperationError(
    `unknown tool "${name}"${didYouMean(name, [...await means.tools.names(), CALLEE_TOOL])}`,
  );
}

/** A document that fails does not stop the one that calls. */
async function callee(
  { parameters, keyPrefix, run }: ContainerCall,
  { operation, runCallee }: { readonly operation: Operation; readonly runCallee: RunCallee },
): Promise<Json> {
  const { file = parameters.file_path, prompt, block = parameters.block_uri } = parameters;
  try {
    if (typeof file !== "string" || file === "") throw new Error("file is missing: name the document to run");
    const { returned } = await runCallee(operation, {
      file,
      keyPrefix,
      blocks: block === undefined ? [] : [block].flat().map(String),
      ...(typeof prompt === "string" && { prompt }),
    });
    return toJson({
      status: "success",
      explicit_return: returned?.isReturned ?? false,
      return_content: returned?.text ?? "",
      return_nodes_attribution: (returned?.blocks ?? []).map(({ source, id }) => ({ source, node_id: id })),
    });
  } catch (error) {
    if (run.signal.aborted) throw error;
    return { status: "failed", error: run.mask(messageOf(error)) };
  }
}
