import { ProblemsError } from "../core/problems_error.ts";
import type { SourceError } from "../core/source_error.ts";
import { parseYaml, type YamlDocument } from "../parse/yaml.ts";
import { checkConfig, type ConfigFindings } from "./check_config.ts";
import { CONFIG_TABLE, type ConfigFile } from "./config_table.ts";

/** One configuration file that was read. */
export interface WrittenConfig {
  readonly values: ConfigFile;
  readonly at: YamlDocument["at"];
  readonly problems: readonly SourceError[];
  readonly notices: readonly string[];
  /** The text, for errors that are found later. */
  readonly source?: string;
}

/** Reads and checks the text of a configuration file; `file` is its name in messages. */
export async function readConfig(text: string, file: string): Promise<WrittenConfig> {
  const nothing = { values: {}, at: () => undefined, problems: [], notices: [], source: text };
  try {
    const repeated: SourceError[] = [];
    const document = await parseYaml(text, { file, repeated });
    if (document.value === null) return nothing;
    const findings = checkConfig(document, CONFIG_TABLE, text);
    const problems = [...repeated, ...findings.problems];
    if (problems.length > 0) return { ...nothing, problems };
    // Just checked against the table that the type is made from.
    const values = document.value as ConfigFile;
    return { ...nothing, values, at: document.at, notices: noticesOf(findings, file) };
  } catch (problem) {
    if (problem instanceof ProblemsError) return { ...nothing, problems: problem.problems };
    throw problem;
  }
}

function noticesOf({ unused }: ConfigFindings, file: string): readonly string[] {
  return unused.map(({ key, span }) =>
    `${file}:${span?.line ?? 1}:${
      span?.column ?? 1
    }: "${key}" is ignored: this version of Orrery does not use it yet`
  );
}
