// What of a project can be called over MCP: gadgets, agents, documents and prompts.
import type { ListToolsResult } from "@modelcontextprotocol/server";
import {
  type JsonObject,
  type JsonSchema,
  mcpNames,
  objectOf,
  objectOrEmpty,
  onlyFields,
  sha256,
} from "../../core/core.ts";
import type { CatalogJson, GadgetJson, ListedAgent, ListedDocument } from "../../service/look/look.ts";

/** What a call of a tool does. */
export type ToolWork =
  | { readonly kind: "gadget"; readonly name: string }
  | { readonly kind: "agent"; readonly file: string }
  /** @param takesPrompt the field `prompt` is none of its inputs */
  | { readonly kind: "document"; readonly file: string; readonly takesPrompt: boolean }
  | { readonly kind: "prompt"; readonly path: string };

/** A tool. */
export interface McpTool {
  /** As clients are told of it. */
  readonly told: ToldTool;
  readonly work: ToolWork;
}

type ToldTool = ListToolsResult["tools"][number];

/** What only makes sense in a run of one's own, or would run everything else. */
const LEFT_OUT: ReadonlySet<string> = new Set(["AskUser", "Finish", "RunPrompt", "RunFile"]);

/** All tools of a project, gadgets first. */
export function mcpTools({ gadgets, agents, documents, prompts }: CatalogJson): readonly McpTool[] {
  const tools = [
    ...gadgets.filter(({ state, name }) => state === "ready" && !LEFT_OUT.has(name))
      .map(gadgetTool),
    ...agents.flatMap((agent) => agent.id === undefined ? [] : [agentTool(agent, agent.id)]),
    ...documents.map(documentTool),
    ...prompts.map(({ path, description, input }): McpTool => ({
      told: {
        name: `prompt_${path}`,
        title: path,
        description: description ?? `Asks the prompt ${path}`,
        inputSchema: objectSchema(input),
        annotations: ASKING,
      },
      work: { kind: "prompt", path },
    })),
  ];
  const names = mcpNames(new Map(tools.map(({ told, work }) => [JSON.stringify(work), told.name])));
  return tools.map(({ told, work }) => ({
    told: { ...told, name: names.get(JSON.stringify(work)) ?? told.name },
    work,
  }));
}

/** A model is asked, and what it calls is not known before. */
const ASKING = { readOnlyHint: false, openWorldHint: true };

function gadgetTool({ name, description, input, output, permissions }: GadgetJson): McpTool {
  const needs = Object.keys(permissions).filter((kind) => isNeeded(permissions[kind]));
  return {
    told: {
      name,
      description,
      inputSchema: objectSchema(input),
      ...(output?.type === "object" && { outputSchema: objectSchema(output) }), // clients take no others
      annotations: {
        readOnlyHint: needs.every((kind) => kind === "read"), // it changes nothing
        openWorldHint: needs.some((kind) => kind === "net" || kind === "run"), // it reaches what is outside of the project
      },
    },
    work: { kind: "gadget", name },
  };
}

function isNeeded(permission: JsonObject[string] | undefined): boolean {
  return permission !== undefined && permission !== false &&
    !(Array.isArray(permission) && permission.length === 0);
}

const CONVERSATION = { type: "string", minLength: 1, maxLength: 200 } as const;

function agentTool({ file, description }: ListedAgent, id: string): McpTool {
  return {
    told: {
      name: `agent_${id}`,
      title: id,
      description: `${
        description ?? `Talks to the agent ${id}`
      }. Begins a conversation, or goes on with one that has not ended.`,
      inputSchema: objectSchema(onlyFields({
        message: { type: "string", minLength: 1, description: "What is said to it." },
        conversation: {
          ...CONVERSATION,
          description: "The conversation to go on with, as an earlier answer named it.",
        },
      }, ["message"])),
      outputSchema: objectSchema(objectOf({
        conversation: { ...CONVERSATION, description: "To go on with." },
        status: { type: "string", enum: ["held", "completed"], description: "held: it waits for an answer." },
      }, ["conversation", "status"])),
      annotations: ASKING,
    },
    work: { kind: "agent", file },
  };
}

function documentTool({ file, title, description, input }: ListedDocument): McpTool {
  const properties = objectOrEmpty(input.properties);
  const takesPrompt = !Object.hasOwn(properties, "prompt");
  const prompt = { type: "string", description: "What it is asked, put before its first block." };
  return {
    told: {
      name: `document_${file.replace(/\.md$/i, "")}`,
      title: title ?? file,
      description: description ?? `Runs the document ${file}, and gives what it returns`,
      inputSchema: objectSchema({ ...input, ...(takesPrompt && { properties: { ...properties, prompt } }) }),
      annotations: ASKING,
    },
    work: { kind: "document", file, takesPrompt },
  };
}

/** Clients take no others. */
function objectSchema(schema: JsonObject | JsonSchema = {}): ToldTool["inputSchema"] {
  return { ...schema, type: "object" };
}

/** Tells everybody when what they have listed is not what there is any more. Nobody looks for it: it is noticed where somebody asks. */
export class CatalogWatch {
  readonly #listeners = new Set<() => void>();
  #last: CatalogJson | undefined;
  #hash = "";

  /** The catalogue as somebody has just got it. */
  seen(catalog: CatalogJson): CatalogJson {
    if (catalog === this.#last) return catalog;
    const hash = hashOf(catalog);
    const isChanged = this.#last !== undefined && hash !== this.#hash;
    this.#last = catalog;
    this.#hash = hash;
    if (isChanged) { for (const listener of this.#listeners) listener(); }
    return catalog;
  }

  /** Calls back at each change, until what it gives is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function hashOf(catalog: CatalogJson): string {
  const { prompts, documents, agents } = catalog;
  return sha256(JSON.stringify([mcpTools(catalog), prompts, documents, agents]));
}
