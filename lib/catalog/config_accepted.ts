import type { Config } from "./config.ts";

/**
 * The settings of a project that the user accepted: its own providers and MCP servers count too, over the user's (gadgets.md 3).
 * What it says of gadgets is read where gadgets are trusted.
 */
export function acceptedConfig(config: Config): Config {
  const { models, mcpServers, project } = config;
  return {
    ...config,
    models: { ...models, providers: { ...models.providers, ...project.providers } },
    mcpServers: { ...mcpServers, ...project.mcpServers },
  };
}
