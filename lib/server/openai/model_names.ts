// What stands behind the name of a model of the project itself: an agent, a profile, a document or a prompt.

import { didYouMean } from "../../core/core.ts";
import type { CatalogJson, CatalogPart, Look } from "../../service/look/look.ts";
import { HttpProblem } from "../problem.ts";

/** What is asked. */
export interface AskedModel {
  readonly kind: "agent" | "profile" | "document" | "prompt";
  /** The file of an agent or a document, the path of a prompt. */
  readonly name: string;
}

/** One line of `GET /v1/models`. */
export interface NamedModel {
  readonly id: string;
  /** `orrery`, or the provider. */
  readonly ownedBy: string;
}

const OWN = "orrery/";
const AGENT_ENDING = /\.agent\.ya?ml$/i;

/** All names that can be asked, the project's own first. */
export async function namedModels(look: Pick<Look, "catalog">): Promise<readonly NamedModel[]> {
  const { agents, profiles, documents, prompts, tactics, models } = await look.catalog(NAMED);
  const own = [
    ...agents.filter(({ problem }) => problem === undefined).map(({ file }) => `agent/${agentName(file)}`),
    ...profiles.map(({ name }) => `profile/${name}`),
    ...documents.map(({ file }) => `document/${file}`),
    ...prompts.map(({ path }) => `prompt/${path}`),
    ...tactics.map(({ name }) => `prompt/${name}`),
  ];
  return [
    ...own.map((name) => ({ id: `${OWN}${name}`, ownedBy: "orrery" })),
    ...models.filter(({ kind, usable }) => usable && kind !== "form").map(({ id, provider, model }) => ({
      id,
      ownedBy: provider ?? ownerOf(model ?? id),
    })),
  ];
}

/** The provider of `provider/model`. */
function ownerOf(id: string): string {
  return id.includes("/") ? id.slice(0, id.indexOf("/")) : id;
}

function agentName(file: string): string {
  return file.replace(AGENT_ENDING, "");
}

/** Whether a name is of this project, and not of a model that is configured. */
export function isOwnName(name: string): boolean {
  return name.startsWith(OWN);
}

/** What names are made of. */
const NAMED = ["agents", "profiles", "documents", "prompts", "tactics", "models"] as const;

/** What is looked at for a name of each kind. */
const PARTS: { readonly [kind in AskedModel["kind"]]: readonly CatalogPart[] } = {
  agent: ["agents"],
  profile: ["profiles"],
  document: ["documents"],
  prompt: ["prompts", "tactics"],
};

/** What a name of the project stands for, and the part of the catalogue that has it. @throws {HttpProblem} 404 `model_not_found` */
export async function askedModel(
  name: string,
  look: Pick<Look, "catalog">,
): Promise<{ readonly asked: AskedModel; readonly catalog: CatalogJson }> {
  const rest = name.slice(OWN.length);
  const slash = rest.indexOf("/");
  const [kind, word] = [rest.slice(0, Math.max(0, slash)), rest.slice(slash + 1)];
  if (isKind(kind) && word !== "") {
    const catalog = await look.catalog(PARTS[kind]);
    const found = ownModel(kind, word, catalog);
    if (found !== undefined) return { asked: { kind, name: found }, catalog };
  }
  throw await unknownModel(name, look);
}

function isKind(word: string): word is AskedModel["kind"] {
  return Object.hasOwn(PARTS, word);
}

/** An agent and a document are known without their ending too, and an agent by its last part where no other has it. */
function ownModel(kind: AskedModel["kind"], word: string, catalog: CatalogJson): string | undefined {
  const { agents, profiles, documents, prompts, tactics } = catalog;
  switch (kind) {
    case "agent": {
      const files = agents.map(({ file }) => file);
      const [only, ...others] = files.filter((file) => agentName(file).endsWith(`/${word}`));
      return files.find((file) => file === word || agentName(file) === word) ??
        (others.length === 0 ? only : undefined);
    }
    case "profile":
      return profiles.find(({ name }) => name === word)?.name;
    case "document":
      return documents.find(({ file }) => file === word || file === `${word}.md`)?.file;
    case "prompt":
      return prompts.find(({ path }) => path === word)?.path ??
        tactics.find(({ name }) => name === word)?.name;
  }
}

/** No model has this name. */
export async function unknownModel(name: string, look: Pick<Look, "catalog">): Promise<HttpProblem> {
  const near = didYouMean(name, (await namedModels(look)).map(({ id }) => id));
  return new HttpProblem(
    404,
    "model_not_found",
    `There is no model ${JSON.stringify(name)}.${near} GET /v1/models lists them`,
    { more: { param: "model" } },
  );
}
