// What a conversation that is tested works with: scripts in place of models and of the network, no environment, and the files of the
// project, to read.

import type { Collection } from "../../core/collection.ts";
import { overlayFiles } from "../../core/overlay_files.ts";
import { hostFiles } from "../../host/files.ts";
import { agentTree } from "../../parse/agent_tree.ts";
import type { AgentTree } from "../../parse/agent_tree.ts";
import { boundedWorld } from "../../project/bounded_world.ts";
import { readyTools } from "../../project/document_place.ts";
import { projectCollection } from "../../project/project_collection.ts";
import type { ProjectCollectionOptions } from "../../project/project_collection.ts";
import type { ContainerCall, Containers } from "../../run/container.ts";
import { conversationSubRuns } from "../../run/conversation_sub_runs.ts";
import type { ConversationMeans } from "../../run/conversation_work.ts";
import { httpOfFetch } from "../../run/http_of_fetch.ts";
import { catalogInWorld } from "../../service/catalog_in_world.ts";
import type { TestConversation } from "./conversation_file.ts";
import type { TestModels, TestServer } from "./conversation_scripts.ts";
import { testedContainers } from "./tested_document.ts";
import type { TestProject } from "./projects.ts";

/** What a conversation works with until it is disposed of. */
export interface TestMeans extends AsyncDisposable {
  readonly means: ConversationMeans;
  /** What runs prompts and documents inside of it. */
  readonly containers: Containers;
}

/** Makes it. */
export function testMeans(
  { agent, env, collection: named }: TestConversation,
  { project, models, server }: {
    readonly project: TestProject;
    readonly models: TestModels;
    readonly server: TestServer;
  },
): TestMeans {
  const { settings: { root, config } } = project;
  const files = overlayFiles(hostFiles({ root }), { root, files: {} });
  const world = boundedWorld({ root, files }, () => undefined);
  const tested = { world: { root, files }, project };
  const path = named ?? config.conversations.collection;
  const collection = path === undefined ? undefined : new TestCollection(path, { root, files: world.files });
  return {
    means: {
      models,
      http: httpOfFetch(server.fetch),
      tools: readyTools(async () => catalogInWorld(await project.catalog(), world)),
      budget: {},
      calls: {},
      env: (name) => valueOf(env, name),
      ...conversationSubRuns,
      collection,
    },
    containers: stepContainers(
      agentTree(agent.root),
      (step) => testedContainers({ ...tested, model: models.of(step) }),
    ),
    async [Symbol.asyncDispose]() {
      await collection?.[Symbol.asyncDispose]();
    },
  };
}

function valueOf(env: Readonly<Record<string, string>>, name: string): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  throw new Error(`the test has no environment variable ${JSON.stringify(name)}: put it into env`);
}

/** A collection whose index is in memory; it is opened with the first search. */
class TestCollection implements Collection, AsyncDisposable {
  readonly #path: string;
  readonly #options: Pick<ProjectCollectionOptions, "root" | "files">;
  #opened: Promise<Collection & Disposable> | undefined;

  /** @param path of a `*.collection.yml`: absolute */
  constructor(path: string, options: Pick<ProjectCollectionOptions, "root" | "files">) {
    this.#path = path;
    this.#options = options;
  }

  async search(...given: Parameters<Collection["search"]>): ReturnType<Collection["search"]> {
    const opened = await (this.#opened ??= projectCollection(this.#path, {
      ...this.#options,
      isKept: false,
    }));
    return await opened.search(...given);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#opened?.catch(() => undefined))?.[Symbol.dispose]();
  }
}

/** Prompts and documents that run inside of a conversation, each with what is made for the step in which it runs. */
function stepContainers(
  tree: AgentTree,
  containersOf: (step: string) => Containers,
): Containers {
  const made = new Map<string, Containers>();
  const find = (call: ContainerCall): Containers => {
    const step = stepOf(call, tree);
    let containers = made.get(step);
    if (containers === undefined) made.set(step, containers = containersOf(step));
    return containers;
  };
  return {
    prompt: (call) => needed(find(call).prompt)(call),
    document: (call) => needed(find(call).document)(call),
  };
}

/** The keys of what is done in a step begin with its place: `main/ask#2/`. */
function stepOf({ keyPrefix }: ContainerCall, tree: AgentTree): string {
  const places = tree.ids.map((id) => ({ id, place: tree.path(id).map((step) => step.id).join("/") }));
  const around = places.filter(({ place }) =>
    keyPrefix.startsWith(place) && /^(?:#\d+)?\//.test(keyPrefix.slice(place.length))
  );
  const [step] = around.sort((a, b) => b.place.length - a.place.length);
  if (step === undefined) throw new Error(`${JSON.stringify(keyPrefix)} is in no step`);
  return step.id;
}

function needed<Contained>(contained: Contained | undefined): Contained {
  if (contained === undefined) throw new Error("nothing can be run inside of this conversation");
  return contained;
}
