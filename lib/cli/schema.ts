import { configSchema } from "../service/look/settings.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { agentSchema } from "../parse/agent/schema.ts";
import { EXIT } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import type { Kind } from "../service/kinds/kind.ts";
import { kindOfTests } from "../service/kinds/kinds.ts";
import { writeText } from "./here.ts";
import { jsonPage } from "./page.ts";

const SCHEMAS: Readonly<Record<string, () => object>> = {
  config: configSchema,
  agent: agentSchema,
};

/** `orrery schema KIND`. */
export async function schema(
  { words: [kind = ""], flags }: ParsedCommand<typeof COMMANDS.schema>,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  const tests = await kindOfTests(`.${kind}.yml`, kinds)?.test?.();
  const made = (tests?.schema ?? SCHEMAS[kind] ?? configSchema)();
  await writeText(jsonPage(made), { output: flags.output, terminal });
  return EXIT.ok;
}
