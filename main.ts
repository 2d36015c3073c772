// On the path of `orrery --version`: everything heavy is behind a dynamic import in lib/cli/main.ts.
import { main } from "./lib/cli/main.ts";
import { commandLine, exitProcess, provideLibrary } from "./lib/host/process.ts";

provideLibrary((): Promise<typeof import("./mod.ts")> => import("./mod.ts" as string));
if (import.meta.main) exitProcess(await main(commandLine()));
