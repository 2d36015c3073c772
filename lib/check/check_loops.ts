import { idKey } from "../document/block_index.ts";
import { readReference } from "../document/reference.ts";
import { slug } from "../document/slug.ts";
import type { DocumentFile } from "../parse/document_file.ts";
import type { GotoFields, OperationFields } from "../parse/operation_fields.ts";
import type { ProblemList } from "./problem_list.ts";

/**
 * Warns of loops that go on until their limit: a jump back whose conditions read blocks that nothing between its target and itself changes, and
 * nothing there leads out. A result that is inserted beside a block of its name gets another id.
 */
export function checkLoops({ path, tree, operations }: DocumentFile, problems: ProblemList): void {
  for (const [at, node] of tree.nodes.entries()) {
    const jump = node.kind === "operation" ? operations.get(node) : undefined;
    if (jump?.name !== "goto" || jump.isRunOnce || jump.conditions.length === 0) continue;
    const [target = ""] = idsOf(jump.block);
    const start = tree.nodes.findIndex((each) =>
      each.kind === "heading" && idKey(each.explicitId ?? slug(each.title)) === target
    );
    if (start < 0 || start > at) continue;
    const inside = tree.nodes.slice(start, at).filter((each) => each.kind === "operation")
      .map((each) => operations.get(each));
    if (inside.length === 0 || !inside.every((fields) => isHarmless(fields, jump))) continue;
    const blocks = jump.conditions.flatMap(({ blocks }) => blocks).map((block) => `"${block.trim()}"`).join(
      ", ",
    );
    problems.warn(
      { file: path, line: jump.lines.get("if") ?? node.line },
      `this loop goes on until its limit: no operation in it changes ${blocks}; to replace a block, give the operation that writes it ` +
        "mode: replace and to: with the id of the block",
    );
  }
}

/** Whether an operation surely leaves alone what the jump reads, and goes on to it. */
function isHarmless(fields: OperationFields | undefined, { conditions }: GotoFields): boolean {
  if (
    fields === undefined || fields.name === "return" || fields.name === "goto" || fields.name === "import"
  ) {
    return false;
  }
  if ("isGeneratedRun" in fields && fields.isGeneratedRun) return false;
  if (fields.to === undefined) return fields.mode !== "replace" && !conditions.some(readsSection);
  const changed = idsOf(fields.to);
  const read = conditions.flatMap(({ blocks }) => blocks).flatMap(idsOf);
  return !readReference(fields.to).isSection && !conditions.some(readsSection) &&
    !changed.some((id) => read.includes(id));
}

function readsSection({ blocks }: GotoFields["conditions"][number]): boolean {
  return blocks.some((block) => readReference(block).isSection);
}

function idsOf(reference: string): readonly string[] {
  return readReference(reference).steps.map((step) => idKey(step.trim()));
}
