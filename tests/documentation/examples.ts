// The examples in the JSDoc of everything that mod.ts exports.

import { docsOf } from "../architecture/export_rules.ts";
import { readProject } from "../architecture/project_tree.ts";
import { readModules } from "../architecture/project.ts";
import { PROJECT_ROOT } from "../_run.ts";
import { arrowComments } from "./expected_output.ts";
import { fencesOf, markdownOfJsDoc } from "./fences.ts";

/** One of them. */
export interface Example {
  readonly name: string;
  readonly file: string;
  readonly source: string;
  readonly expected: string | undefined;
}

/** All of them, in the order of mod.ts. */
export async function examplesOfDoor(): Promise<readonly Example[]> {
  const project = readModules(await readProject(PROJECT_ROOT));
  const exported = project.modules.get("mod.ts")?.exports ?? [];
  return exported.flatMap((fact) => {
    const blocks = docsOf(project, "mod.ts", fact).flatMap((doc) => fencesOf(markdownOfJsDoc(doc)));
    return blocks.filter(({ language }) => language === "ts").map((block, index): Example => ({
      name: `${fact.name}, example ${index + 1}`,
      file: `example_${fact.name}_${index + 1}.ts`,
      source: block.text,
      expected: block.expected?.text ?? arrowComments(block.text),
    }));
  });
}
