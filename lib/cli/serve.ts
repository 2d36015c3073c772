import { messageOf, type Secrets } from "../core/core.ts";
import { exitProcess, hostEnv } from "../host/process.ts";
import { logsToStderr } from "../host/terminal/logs_to_stderr.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { keepToken } from "../host/files/journal_files.ts";
import { plainErrorFrame } from "../render/error_frame.ts";
import { paintFor } from "../render/cells.ts";
import { printable } from "../render/shown_text.ts";
import type { OpenServer } from "../server/server.ts";
import type { Kind } from "../service/kinds/kind.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { openService } from "../service/open_service.ts";
import type { Service } from "../service/service.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { grantsOf } from "./flags/grants.ts";
import { strayErrorText } from "./report_failure.ts";

type ServeCommand = ParsedCommand<typeof COMMANDS.serve>;
type ServeFlags = ServeCommand["flags"];

/** How long the steps that are under way may take when the process is told to end, ms. */
const GRACE_MS = 10_000;
const MIN_TOKEN = 16;

/** `orrery serve`: comes back when it was told to end. */
export async function serve(
  { flags }: ServeCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  const wanted = await wantedOf(flags);
  const { folder, token } = wanted;
  logsToStderr();
  const tell = (text: string): void => void terminal.stderr.write(`${printable(text).trimEnd()}\n`);
  const warn = (text: string): void => tell(`warning: ${text}`);
  using _stray = terminal.onStrayError((error) => warn(strayErrorText(error, folder)));
  await using service = await openService({
    folder,
    kinds,
    ephemeral: flags.ephemeral,
    grants: grantsHere(flags),
    notice: warn,
    engine: flags.engine === undefined ? undefined : await engineOf(flags.engine, warn),
    ...(token !== undefined && { secrets: [{ name: "the token of the server", value: token }] }),
  });
  const server = await listen(service, { ...wanted, tell });
  if (server instanceof Error) {
    await terminal.stderr.write(plainErrorFrame(messageOf(server), { paint: paintFor(false) }));
    return EXIT.failed;
  }
  using _token = token === undefined ? undefined : keepToken(service.root, token);
  await terminal.stdout.write(`${server.origin}\n`);
  if (!flags.quiet) tell(welcome(server, { token, root: service.root }));
  await untilEnd(server, terminal, flags.quiet ? () => {} : tell);
  return EXIT.ok;
}

interface Wanted {
  readonly folder: string;
  readonly port: number;
  readonly host: string;
  readonly names: readonly string[];
  /** Undefined: nobody needs one. */
  readonly token: string | undefined;
}

/** @throws {UsageError} that names each flag that is wrong */
async function wantedOf(flags: ServeFlags): Promise<Wanted> {
  const { port = 7337, host = "127.0.0.1", name: names, "no-token": isOpen } = flags;
  const { isLoopback, randomName } = await loadServer();
  const given = flags.token ?? (isOpen ? undefined : hostEnv("ORRERY_TOKEN"));
  const where = flags.token === undefined ? "ORRERY_TOKEN" : "--token";
  const isToken = given === undefined || new RegExp(`^[\\x21-\\x7e]{${MIN_TOKEN},500}$`).test(given);
  const rules: readonly (readonly [isWrong: boolean, problem: string])[] = [
    [
      !Number.isInteger(port) || port > 65_535,
      `--port ${port}: expected a whole number from 0 to 65535`,
    ],
    ...names.map((name) =>
      [
        !/^[\w.-]+(?::\d{1,5})?$/.test(name),
        `--name ${name}: expected a name, or NAME:PORT, such as orrery.example`,
      ] as const
    ),
    [isOpen && flags.token !== undefined, "--no-token and --token: expected one of them"],
    [
      isOpen && flags.token === undefined && !isLoopback(host),
      `--no-token with --host ${host}: others than this machine can reach that; leave --no-token out`,
    ],
    [!isOpen && !isToken, `${where}: expected ${MIN_TOKEN} to 500 characters of ASCII without blanks`],
  ];
  const problems = rules.flatMap(([isWrong, problem]) => isWrong ? [problem] : []);
  if (problems.length > 0) throw new UsageError(problems, "serve");
  return {
    folder: workingFolder(),
    port,
    host,
    names,
    token: isOpen ? undefined : given ?? randomName(),
  };
}

/** What gives runs to nodes; it and its package are loaded here alone. @throws {UsageError} */
async function engineOf(flag: string, notice: (text: string) => void) {
  const { durableRuns, engineSettings }: typeof import("../durable/durable.ts") = await import(
    "../durable/durable.ts" as string
  );
  const settings = engineSettings(flag);
  return ({ secrets }: { readonly secrets: Secrets }) => durableRuns(settings, { secrets, notice });
}

/** What is said here holds for every run; commands and gadgets are granted in orrery.yaml, where it can be seen. */
function grantsHere(flags: ServeFlags) {
  const { settings, flags: given } = grantsOf({
    ...flags,
    "allow-run": [],
    "allow-all": false,
    gadget: [],
    trust: [],
    "allow-gadget": [],
    frozen: false,
    "trust-code": false,
  });
  return { settings: { ...settings, runsByGrant: true as const }, flags: given };
}

/** With `as string`, the start of every other command does not load it. */
async function loadServer() {
  const [{ isLoopback }, { randomName }, { openServer }]: [
    typeof import("../server/guard.ts"),
    typeof import("../server/session.ts"),
    typeof import("../server/server.ts"),
  ] = await Promise.all([
    import("../server/guard.ts" as string),
    import("../server/session.ts" as string),
    import("../server/server.ts" as string),
  ]);
  return { isLoopback, randomName, openServer };
}

/** An error where it cannot listen there. */
async function listen(
  service: Service,
  { port, host, names, token, tell }: Wanted & { readonly tell: (text: string) => void },
): Promise<OpenServer | Error> {
  const { openServer } = await loadServer();
  try {
    return openServer(service, { port, host, names, tell, token });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

function welcome(
  server: OpenServer,
  { token, root }: { readonly token: string | undefined; readonly root: string },
): string {
  if (token === undefined) return `Serving ${root}; whoever is on this machine may ask.`;
  return [
    `Serving ${root}`,
    `Page:  ${server.link()}  (once, within five minutes)`,
    `Token: ${token}`,
  ].join("\n");
}

/** Until the process is told to end, and everything has ended. */
async function untilEnd(
  server: OpenServer,
  terminal: Terminal,
  tell: (text: string) => void,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let signals = 0;
  using _signals = terminal.onInterrupt(() => {
    signals++;
    if (signals > 1) exitProcess(EXIT.interrupted);
    tell("Ending: steps that are under way get 10 seconds. Once more ends at once.");
    server.stop({ graceMs: GRACE_MS }).then(ended.resolve, ended.reject);
  });
  await ended.promise;
}
