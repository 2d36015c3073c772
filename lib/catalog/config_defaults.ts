import { join } from "../core/path.ts";
import { DEFAULT_MARKERS } from "../parse/markers.ts";
import type { Config } from "./config_values.ts";

/** The limits that a configuration file can change; times in seconds. */
export const LIMIT_DEFAULTS = {
  "concurrency": 16,
  "timeout-s": 60,
  "turns": 10,
  "retries": 3,
  "result-bytes": 1_048_576,
} as const;

/** Where the gadget modules of a project are. */
export const GADGET_FOLDER = "gadgets";

/** The settings of a project without any configuration file. */
export function defaultConfig(root: string): Config {
  return {
    calls: { markers: DEFAULT_MARKERS },
    models: { aliases: {}, fallback: {}, providers: {}, prices: {} },
    mcpServers: {},
    gadgets: { folders: [{ path: join(root, GADGET_FOLDER) }], isolation: {} },
    grants: {},
    limits: {
      concurrency: LIMIT_DEFAULTS.concurrency,
      timeoutMs: LIMIT_DEFAULTS["timeout-s"] * 1000,
      resultBytes: LIMIT_DEFAULTS["result-bytes"],
      turns: LIMIT_DEFAULTS.turns,
      retries: LIMIT_DEFAULTS.retries,
    },
    project: { grants: {}, isolation: {}, providers: {}, mcpServers: {}, parts: {} },
    notices: [],
  };
}
