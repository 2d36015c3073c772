import { exitProcess } from "../host/process.ts";
import { logsToStderr } from "../host/terminal/logs_to_stderr.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { printable } from "../render/shown_text.ts";
import type { Kind } from "../service/kinds/kind.ts";
import { EXIT } from "../service/exit_code.ts";
import { openService } from "../service/open_service.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { grantsOf } from "./flags/grants.ts";
import { strayErrorText } from "./report_failure.ts";

type McpCommand = ParsedCommand<typeof COMMANDS.mcp>;

/** How long steps that are under way may take when the client is gone, ms. */
const GRACE_MS = 10_000;

/** `orrery mcp`: the project over MCP on stdin and stdout, until the client closes its end. */
export async function mcp(
  { flags }: McpCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  logsToStderr(); // stdout is the protocol's alone
  const grants = grantsOf(flags);
  const stop = new AbortController();
  using _listener = terminal.onInterrupt(() => {
    if (stop.signal.aborted) exitProcess(EXIT.interrupted);
    stop.abort();
  });
  const tell = (text: string): void => void terminal.stderr.write(printable(text));
  const notice = (text: string): void => flags.quiet ? undefined : tell(`notice: ${text}\n`);
  const folder = workingFolder();
  using _stray = terminal.onStrayError((error) => tell(`warning: ${strayErrorText(error, folder)}\n`));
  await using service = await openService({
    folder,
    ephemeral: flags.ephemeral,
    grants,
    notice,
    kinds,
  });
  const { serveMcpStdio }: typeof import("../server/mcp/stdio.ts") = await import(
    "../server/mcp/stdio.ts" as string
  );
  const { signal } = stop;
  const stdin = terminal.stdinChunks({ signal });
  await serveMcpStdio(service, { stdin, write: (text) => terminal.stdout.write(text), tell, signal });
  await service.stop({ graceMs: GRACE_MS });
  return EXIT.ok;
}
