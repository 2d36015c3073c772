// `orrery trust` with gadgets that are described by a file, not by a process of their own: `described.json`, and `used.json`.
import { resolve } from "node:path";
import { COMMANDS } from "../lib/cli/flags/flags.ts";
import { parseFlags } from "../lib/cli/flags/parse.ts";
import { reportFailure } from "../lib/cli/report_failure.ts";
import { trust } from "../lib/cli/trust/trust.ts";
import { hostTerminal } from "../lib/host/terminal/terminal.ts";
import { hashOfBytes } from "../lib/project/trust/module_hashes.ts";

const terminal = hostTerminal();
const json = async (file: string) => JSON.parse(await Deno.readTextFile(file));

const code = await trust(parseFlags(COMMANDS.trust, Deno.args), terminal, {
  async describe(names) {
    const known = await json("described.json");
    const gadgets = await Promise.all(names.map(async (name) => {
      const { file, permissions } = known[name];
      const path = resolve(file);
      return {
        name,
        file: path,
        permissions,
        modules: [{ path, sha256: await hashOfBytes(await Deno.readFile(path)) }],
      };
    }));
    return { gadgets, servers: [] };
  },
  allowServers: () => Promise.resolve([]),
  used: {
    async of({ name }) {
      return (await json("used.json"))[name] ?? { calls: 0, used: [] };
    },
  },
}).catch((error) => reportFailure(error, terminal));
Deno.exit(code);
