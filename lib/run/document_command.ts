import { dirname, isAbsolute, join } from "node:path";
import { narrowedAway } from "../check/narrowing.ts";
import { isJsonObject } from "../core/json.ts";
import { nodeBodies } from "../document/node_text.ts";
import type { ShellFields } from "../parse/document/operation.ts";
import { limitsOf } from "./document_means.ts";
import { insertResult, type Operation, resultNodes, targetOf } from "./document_operation.ts";
import { runDocumentCommand } from "./document_shell.ts";
import { performEffect } from "./effect.ts";
import { OperationError } from "./operation_error.ts";

const HEADER = "# OS Shell Tool response block";

/** Runs the command and merges its output; a failure of it is told after that (documents.md 9.1 to 9.3). @throws {OperationError} */
export async function performShell(operation: Operation<ShellFields>): Promise<void> {
  const { run, means, fields, file, key, from, narrowing } = operation;
  const against = narrowedAway(narrowing, { kind: "run", root: means.root });
  if (against !== undefined) throw new OperationError(`@shell needs run permission, ${against}`);
  targetOf(operation);
  const { prompt: script, timeoutS = limitsOf(file, means).shellTimeoutS, useHeader = HEADER } = fields;
  const env = environment(operation);
  const folder = dirname(from);
  const outcome = await performEffect(run, {
    key: `${key}/shell`,
    kind: "shell",
    name: `@shell ${from}:${operation.node.content.line}`,
    input: { script, folder, env, timeoutS },
    isIdempotent: false,
    perform: async (tell) => {
      const { text, exitCode, isTimedOut } = await runDocumentCommand(means.shell, {
        shell: means.script,
        script,
        cwd: isAbsolute(folder) ? folder : join(means.root, folder),
        env,
        timeoutMs: timeoutS * 1000,
        clock: run.clock,
        signal: run.signal,
        onOutput: tell,
      });
      return { text, exitCode, isTimedOut };
    },
  });
  const { text = "", exitCode = 0, isTimedOut = false } = isJsonObject(outcome) ? outcome : {};
  const nodes = await resultNodes(operation, String(text));
  insertResult(operation, { nodes, header: useHeader, by: "shell" });
  if (isTimedOut === true) throw new OperationError(`timed out after ${timeoutS} s`);
  if (fields.onError === "stop" && exitCode !== 0) {
    throw new OperationError(`command exited with code ${String(exitCode)}`);
  }
}

/** What the command gets besides; a block without its heading line. @throws {BlockReferenceError} */
function environment({ fields, live }: Operation<ShellFields>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields.env).map(([name, value]) =>
      [name, typeof value === "string" ? value : nodeBodies(live.select(value.blocks))] as const
    ),
  );
}
