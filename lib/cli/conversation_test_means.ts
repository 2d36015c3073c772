// What a conversation that is tested works with: scripts in place of models and of the network, no environment, and the files of the
// project, to read.

import { overlayFiles } from "../core/overlay_files.ts";
import { hostFiles } from "../host/files.ts";
import { agentTree } from "../parse/agent_tree.ts";
import { boundedWorld } from "../project/bounded_world.ts";
import { readyTools } from "../project/document_place.ts";
import type { Containers } from "../run/container.ts";
import { conversationSubRuns } from "../run/conversation_sub_runs.ts";
import type { ConversationMeans } from "../run/conversation_work.ts";
import { httpOfFetch } from "../run/http_of_fetch.ts";
import { catalogInWorld } from "../service/catalog_in_world.ts";
import { TestCollection } from "./conversation_test_collection.ts";
import { stepContainers } from "./conversation_test_containers.ts";
import type { TestConversation } from "./conversation_test_file.ts";
import type { TestModels } from "./conversation_test_models.ts";
import type { TestServer } from "./conversation_test_server.ts";
import { testedContainers } from "./test_document_run.ts";
import type { TestProject } from "./test_projects.ts";

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
