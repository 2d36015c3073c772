import { configSchema } from "../catalog/config_schema.ts";
import type { Terminal } from "../host/terminal.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { writeText } from "./write_text.ts";

/** `orrery schema config`. */
export async function schema(
  { flags }: ParsedCommand<typeof COMMANDS.schema>,
  terminal: Terminal,
): Promise<number> {
  await writeText(`${JSON.stringify(configSchema(), null, 2)}\n`, { output: flags.output, terminal });
  return EXIT.ok;
}
