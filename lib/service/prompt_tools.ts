import type { Catalog } from "../core/catalog.ts";
import { type JsonSchema, jsonSchemaOf } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import { keepStdout } from "../project/grants.ts";
import { NOBODY } from "../project/nobody.ts";
import { openCatalog, type ProjectFlags, type ProjectSettings } from "../project/project.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";

/** A tool of a prompt, as far as it is known before a turn. */
export interface PromptTool {
  readonly name: string;
  /**
   * `linked`, `not linked`: a gadget of the prompt's own, with and without an implementation. Of a plain name: `catalogue`, or why it
   * cannot be used; the tools of a `server` are not known before it is started.
   */
  readonly state: "linked" | "not linked" | "catalogue" | "server" | "not trusted" | "broken" | "unknown";
  readonly description?: string;
  readonly input?: JsonSchema;
  readonly problem?: string;
}

/** The tools of a prompt in their order; plain names are looked up in the catalogue, for which no server is started. */
export async function promptTools(
  { tools }: AnyPrompt,
  { project, flags }: { readonly project: ProjectSettings; readonly flags: ProjectFlags },
): Promise<readonly PromptTool[]> {
  keepStdout(flags);
  const catalog = tools.some((tool) => typeof tool === "string")
    ? (await openCatalog(project, { flags, user: NOBODY, notice: () => undefined, servers: false })).catalog
    : undefined;
  try {
    return await Promise.all(tools.map((tool) => {
      if (typeof tool === "string") return namedTool(tool, catalog);
      const { name, description, input, run } = tool;
      return {
        name,
        state: run === undefined ? "not linked" : "linked",
        ...about(description, input && jsonSchemaOf(input)),
      } as const;
    }));
  } finally {
    await catalog?.close?.();
  }
}

async function namedTool(name: string, catalog: Catalog | undefined): Promise<PromptTool> {
  const entry = catalog?.maybeFind(name);
  if (entry === undefined) return { name, state: name.includes("__") ? "server" : "unknown" };
  if (entry.state !== "ready") {
    const state = entry.state === "broken" ? "broken" : "not trusted";
    return { name, state, problem: entry.problem };
  }
  try {
    const { description, input } = await entry.load();
    return { name, state: "catalogue", ...about(description, input && jsonSchemaOf(input)) };
  } catch (error) {
    return { name, state: "broken", problem: messageOf(error) };
  }
}

function about(
  description: string | undefined,
  input: JsonSchema | undefined,
): Pick<PromptTool, "description" | "input"> {
  return { ...(description && { description }), input };
}
