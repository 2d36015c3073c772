import { join } from "node:path";
import type { RunEvent } from "../mod.ts";
import { type TestProject, testProject } from "./_project.ts";
import { type ProviderReply, type ProviderServer, providerServer, TEST_KEY } from "./_provider_server.ts";
import type { RunResult } from "./_run.ts";

/** A project whose user has every provider of a server of this test, each with a key. */
export interface ProviderProject extends AsyncDisposable {
  readonly provider: ProviderServer;
  readonly project: TestProject;
  /** Runs `orrery` in it. */
  run(...args: readonly string[]): Promise<RunResult>;
  /** Writes a file of these bytes, in base64. */
  write(path: string, data: string): Promise<void>;
  /** The events of `orrery ask`. */
  events(...args: readonly string[]): Promise<readonly RunEvent[]>;
}

const KEYS = [
  "OPENAI",
  "ANTHROPIC",
  "GOOGLE_GENERATIVE_AI",
  "MISTRAL",
  "GROQ",
  "XAI",
].map((name) => `${name}_API_KEY`);

/** @param models what else the user's configuration says of models, its providers over those of the server */
export async function providerProject(
  replies: Parameters<typeof providerServer>[0],
  { files, models, env = {} }: {
    readonly files?: Readonly<Record<string, string>>;
    readonly models?: (provider: ProviderServer) => Readonly<Record<string, unknown>>;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<ProviderProject> {
  const provider = providerServer(replies);
  const project = await testProject(files);
  const folder = join(project.env.XDG_CONFIG_HOME ?? "", "orrery");
  await Deno.mkdir(folder, { recursive: true });
  const settings = { models: { ...provider.settings, ...models?.(provider) } };
  await Deno.writeTextFile(join(folder, "config.yaml"), JSON.stringify(settings));
  const keys = Object.fromEntries([...KEYS, "COMPATIBLE_KEY"].map((name) => [name, TEST_KEY]));
  const run = (...args: readonly string[]) => project.run(args, { env: { ...keys, ...env } });
  return {
    provider,
    project,
    run,
    write: (path, data) => Deno.writeFile(join(project.folder, path), Uint8Array.fromBase64(data)),
    async events(...args) {
      const { stdout } = await run("ask", "--jsonl", ...args);
      return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

export type { ProviderReply };
