// Which server a command is for, and what it shows it.
import { keptToken } from "../../host/files/journal_files.ts";
import { projectRoot, workingFolder } from "../../host/paths.ts";
import { hostEnv } from "../../host/process.ts";
import { isLoopback } from "../../server/guard.ts";
import { UsageError } from "../../service/exit_code.ts";
import type { CommandSpec } from "../flags/flag.ts";
import { refusedFlags } from "../flags/parse.ts";
import { ServerClient } from "./client.ts";

/** What the command line says of a server. */
interface ServerFlags {
  readonly server: string | undefined;
  readonly token: string | undefined;
}

/** The server that `--server`, or else `ORRERY_SERVER`, names. @throws {UsageError} for another flag that does not go with it, a URL that is none, and a token that anybody on the way could read */
export function serverOf(spec: CommandSpec, flags: ServerFlags): ServerClient {
  const from = flags.server === undefined ? "ORRERY_SERVER" : "--server";
  const named = flags.server ?? hostEnv("ORRERY_SERVER")?.trim() ?? "";
  const refused = refusedFlags(spec, { ...flags }, "--server");
  if (refused.length > 0) {
    const note = from === "--server" ? [] : [`${from}=${named} stands for --server: to do it here, unset it`];
    throw new UsageError([...refused, ...note], spec.name);
  }
  const url = urlOf(named, { from, command: spec.name });
  const isHere = isLoopback(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  const shown = url.href.replace(/\/$/, "");
  const { token, tokenFrom } = tokenOf(flags.token, isHere);
  if (token !== undefined && !isHere && url.protocol !== "https:") {
    throw new UsageError(
      `${from} ${shown}: the token of ${tokenFrom} would go to another machine for everybody on the way to read; expected https://`,
      spec.name,
    );
  }
  return new ServerClient({ url: shown, token, tokenFrom });
}

/** @throws {UsageError} */
function urlOf(text: string, { from, command }: { readonly from: string; readonly command: string }): URL {
  const url = URL.parse(text);
  const isHttp = url !== null && /^https?:\/\//i.test(text) && url.hostname !== "";
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (isHttp && isPlain) return url;
  // A URL may hold a password: no more of it is shown.
  const found = isHttp ? "a URL with more than a host and a path" : JSON.stringify(text);
  throw new UsageError(
    `${from}: found ${found}, expected the URL that orrery serve prints, such as http://127.0.0.1:7337`,
    command,
  );
}

const TOKEN_FILE = ".orrery/orrery.db-token";

/** The token, and where it is from; without one, where it was looked for. */
function tokenOf(
  flag: string | undefined,
  isHere: boolean,
): { readonly token: string | undefined; readonly tokenFrom: string } {
  if (flag !== undefined) return { token: flag, tokenFrom: "--token" };
  const variable = hostEnv("ORRERY_TOKEN")?.trim();
  if (variable) return { token: variable, tokenFrom: "ORRERY_TOKEN" };
  if (!isHere) return { token: undefined, tokenFrom: "--token and ORRERY_TOKEN" };
  const root = projectRoot(workingFolder(), workingFolder());
  const token = keptToken(root);
  const tokenFrom = token === undefined
    ? `--token, ORRERY_TOKEN and ${TOKEN_FILE} of ${root}`
    : `${TOKEN_FILE} of ${root}`;
  return { token, tokenFrom };
}
