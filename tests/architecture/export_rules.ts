import type { ExportFact } from "./module_facts.ts";
import { type Project, type Rule, targetOf } from "./project.ts";

/** Everything that mod.ts gives is described where it is exported or where it is defined; a value has an example too. */
const documentedExports: Rule = (project) => {
  const door = project.modules.get("mod.ts");
  if (door === undefined) return [];
  return door.exports.flatMap((exported) => {
    const place = `mod.ts:${exported.line}`;
    if (exported.name === "*") return [`${place}: export * hides what is exported; name each export`];
    const docs = docsOf(project, "mod.ts", exported);
    if (docs.length === 0) return [`${place}: "${exported.name}" has no JSDoc, here or where it is defined`];
    if (
      exported.kind === "value" && isValue(project, "mod.ts", exported) &&
      !docs.some((doc) => doc.includes("```ts"))
    ) {
      return [`${place}: "${exported.name}" has no example (a \`\`\`ts block in its JSDoc)`];
    }
    return [];
  });
};

/** The JSDoc of an export, at the door and at its definition, outermost first. */
export function docsOf(project: Project, path: string, exported: ExportFact): readonly string[] {
  const here = exported.doc === undefined ? [] : [exported.doc];
  const origin = definitionOf(project, path, exported);
  return origin === undefined ? here : [...here, ...docsOf(project, origin.path, origin.fact)];
}

/** `export { type X }` and `export type` say so; a plain re-export of a type is told by its definition. */
function isValue(project: Project, path: string, exported: ExportFact): boolean {
  const origin = definitionOf(project, path, exported);
  return exported.kind === "value" && (origin === undefined || isValue(project, origin.path, origin.fact));
}

function definitionOf(
  project: Project,
  path: string,
  exported: ExportFact,
): { path: string; fact: ExportFact } | undefined {
  if (exported.from === undefined) return undefined;
  const target = targetOf(path, exported.from.specifier);
  const fact = project.modules.get(target ?? "")?.exports.find(({ name }) => name === exported.from?.name);
  return target === undefined || fact === undefined ? undefined : { path: target, fact };
}

/** The rules about the public door. */
export const EXPORT_RULES: Readonly<Record<string, Rule>> = { documentedExports };
