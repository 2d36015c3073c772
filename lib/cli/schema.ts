import { configSchema } from "../catalog/config/table.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { agentSchema } from "../parse/agent/schema.ts";
import { EXIT } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { conversationTestSchema, documentTestSchema } from "./test/schema.ts";
import { writeText } from "./here.ts";
import { jsonPage } from "./page.ts";

const SCHEMAS: Readonly<Record<string, () => object>> = {
  config: configSchema,
  agent: agentSchema,
  "document-test": documentTestSchema,
  "conversation-test": conversationTestSchema,
};

/** `orrery schema KIND`. */
export async function schema(
  { words: [kind], flags }: ParsedCommand<typeof COMMANDS.schema>,
  terminal: Terminal,
): Promise<number> {
  const made = (SCHEMAS[kind ?? ""] ?? configSchema)();
  await writeText(jsonPage(made), { output: flags.output, terminal });
  return EXIT.ok;
}
