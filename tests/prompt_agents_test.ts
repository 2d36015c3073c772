import assert from "node:assert/strict";
import { definePrompt, defineTactic, memoryFiles, PromptError, PromptRegistry } from "../mod.ts";
import { loadAgents } from "../lib/catalog/load_agents.ts";
import { requireAgents } from "../lib/run/tactic/tactic.ts";
import cases from "./spec/prompts/config.json" with { type: "json" };

interface ConfigCase {
  readonly name: string;
  readonly input: {
    readonly project: unknown;
    readonly prompts: readonly string[];
    readonly tactic?: { readonly name: string; readonly agents: readonly string[] };
  };
  readonly expected?: unknown;
  readonly error?: string;
  readonly code?: string;
}

function registryOf(paths: readonly string[]): PromptRegistry {
  const registry = new PromptRegistry();
  for (const path of paths) registry.register(definePrompt({ path, template: path }));
  return registry;
}

for (const { name, input, expected, error, code } of cases as readonly ConfigCase[]) {
  Deno.test(`agents: ${name}`, async () => {
    const files = memoryFiles({ "orrery.yaml": JSON.stringify(input.project) });
    const work = async () => {
      const { agents } = await loadAgents({ root: "/project", files, prompts: registryOf(input.prompts) });
      if (input.tactic !== undefined) {
        requireAgents(defineTactic({ ...input.tactic, call: () => undefined }), agents.keys());
      }
      return Object.fromEntries(agents);
    };
    if (error === undefined) return assert.deepEqual(await work(), expected);
    await assert.rejects(work(), (thrown: unknown) => {
      assert.ok(thrown instanceof PromptError && thrown.code === code, String(thrown));
      assert.ok(thrown.message.includes(error), thrown.message);
      return true;
    });
  });
}
