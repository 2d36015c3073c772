import type { CatalogJson } from "../../service/look/look.ts";
import type { Service } from "../../service/service.ts";

/** Something that can be read. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType: string;
}

const MARKDOWN = "text/markdown";
const YAML = "application/yaml";
const JSON_TYPE = "application/json";

/** How runs are named; there are too many for a list. */
export const RUN_TEMPLATE = {
  uriTemplate: "orrery://run/{id}",
  name: "run",
  description: "The trace of a run: its steps and events, as JSON",
  mimeType: JSON_TYPE,
} as const;

/** The documents and agents of a project. */
export function mcpResources({ documents, agents }: CatalogJson): readonly McpResource[] {
  return [
    ...documents.map(({ file, title, description }): McpResource => ({
      uri: uriOf("document", file),
      name: title ?? file,
      ...(description !== null && { description }),
      mimeType: MARKDOWN,
    })),
    ...agents.map(({ file, id, description }): McpResource => ({
      uri: uriOf("agent", file),
      name: id ?? file,
      description,
      mimeType: YAML,
    })),
  ];
}

function uriOf(kind: "document" | "agent", file: string): string {
  return `orrery://${kind}/${file.split("/").map(encodeURIComponent).join("/")}`;
}

/** What is at a URI; undefined when it is none of these: of files it is only what is listed. @throws {ServiceError} not-found */
export async function readResource(
  uri: string,
  { look, trace }: Pick<Service, "look"> & { trace(id: string): Promise<unknown> },
): Promise<{ readonly text: string; readonly mimeType: string } | undefined> {
  const { kind, encoded } = /^orrery:\/\/(?<kind>document|agent|run)\/(?<encoded>.+)$/.exec(uri)?.groups ??
    {};
  const id = encoded === undefined ? undefined : maybeDecoded(encoded);
  if (id === undefined) return undefined;
  if (kind === "run") return { text: JSON.stringify(await trace(id)), mimeType: JSON_TYPE };
  const listed = mcpResources(await look.catalog(["documents", "agents"]));
  const resource = listed.find((each) => each.uri === uriOf(kind === "agent" ? kind : "document", id));
  return resource === undefined ? undefined : { text: await look.source(id), mimeType: resource.mimeType };
}

function maybeDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
