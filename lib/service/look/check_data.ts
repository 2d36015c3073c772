import { basename, resolve } from "node:path";
import { hostFiles } from "../../host/files.ts";
import { isAgentName } from "../../parse/agent_file.ts";
import { NO_GRANTS } from "../../project/grants.ts";
import { checkFiles } from "../check_files.ts";
import { CheckPlaces } from "../check_places.ts";
import { checkPromptText } from "../check_prompts.ts";
import { CheckReport } from "../check_report.ts";
import { CheckTargets, checkTargets } from "../check_targets.ts";
import { ServiceError } from "../service.ts";
import { fileInProject } from "../file_in_project.ts";
import type { CheckWanted, ProblemJson } from "./look.ts";
import { toldProblem } from "./problem_data.ts";

/** As on a command line without flags. */
const NO_FLAGS = { values: {}, blocks: [], isGranting: false, isGiving: false };

/** Finds mistakes, running nothing: in files of the project, in all of it, or in a text. @throws {ServiceError} `invalid`, `outside` */
export async function checkData(
  wanted: CheckWanted,
  { root }: { readonly root: string },
): Promise<readonly ProblemJson[]> {
  const report = new CheckReport();
  const posted = "text" in wanted ? postedFile(wanted.text, root) : undefined;
  const texts = new Map(posted === undefined ? [] : [[posted.path, posted.text]]);
  await using places = new CheckPlaces({ cwd: root, grants: NO_GRANTS, report, texts });
  const targets = posted === undefined
    ? await namedTargets("files" in wanted ? wanted.files ?? [] : [], { root, places })
    : new CheckTargets();
  if (posted !== undefined) targets[posted.kind].add(posted.path);
  if (posted?.kind === "prompts") await checkPromptText(posted.path, { text: posted.text, report });
  else await checkFiles(targets, { places, report, flags: NO_FLAGS });
  return report.problems().map((problem) => toldProblem(root, problem));
}

async function namedTargets(
  files: readonly string[],
  { root, places }: { readonly root: string; readonly places: CheckPlaces },
): Promise<CheckTargets> {
  const words = files.map((file) => fileInProject(file, { root, field: "files" }));
  return await checkTargets(words.length === 0 ? [root] : words, {
    cwd: root,
    files: hostFiles({ root }),
    places,
  });
}

interface PostedFile {
  /** Absolute: where it would be in the project. */
  readonly path: string;
  readonly text: string;
  readonly kind: "documents" | "calls" | "agents" | "prompts";
}

function postedFile(
  { name, text }: { readonly name: string; readonly text: string },
  root: string,
): PostedFile {
  const path = resolve(root, fileInProject(name, { root, field: "name" }));
  const kind = kindOf(name);
  if (kind !== undefined) return { path, text, kind };
  throw new ServiceError(
    `name: found ${
      JSON.stringify(name)
    }, expected that of a document (.md), a call file (.calls), an agent ` +
      "(.agent.yml, .agent.yaml) or a prompt (.prompt.md, .prompt)",
    { code: "invalid", details: { field: "name" } },
  );
}

function kindOf(name: string): PostedFile["kind"] | undefined {
  if (/\.prompt(\.md)?$/.test(name)) return "prompts";
  if (/\.md$/i.test(name)) return "documents";
  if (/\.calls$/i.test(name)) return "calls";
  return isAgentName(basename(name)) ? "agents" : undefined;
}
