// On the path of `orrery --version`: everything heavy is behind a dynamic import in lib/cli/main.ts.
import { main } from "./lib/cli/main.ts";
import { commandLine, exitProcess } from "./lib/host/process.ts";

if (import.meta.main) exitProcess(await main(commandLine()));
