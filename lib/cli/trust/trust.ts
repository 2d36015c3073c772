import {
  canonicalJson,
  type GadgetToGrant,
  LOCK_FILE,
  type LockedGadget,
  nearestName,
  shownWord,
  type User,
} from "../../core/core.ts";
import { sightOf } from "../../host/paths.ts";
import { hasColor, type Terminal } from "../../host/terminal/terminal.ts";
import { lockedGadget } from "../../policy/decide_grant.ts";
import { minimisedPermissions } from "../../policy/use_tally.ts";
import { isEmptyPermissions, permissionChanges, permissionLines } from "../../policy/permission_sets.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { openApp } from "../../service/app.ts";
import {
  acceptedGrants,
  type AllowedServer,
  allowServers,
  describeNamed,
  takeOut,
  usedSoFar,
} from "../../service/trust/change.ts";
import { plainErrorFrame } from "../../render/error_frame.ts";
import { paintFor } from "../../render/cells.ts";
import { printable } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { nobody, typistAt } from "../run/around.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { namedBy, type TrustRow, trustRows } from "../../service/trust/rows.ts";
import { notAllowed, trustList, trustPage } from "./list.ts";
import { tell, warningsTo } from "../page.ts";

type TrustCommand = ParsedCommand<typeof COMMANDS.trust>;

/** `orrery trust`: what is allowed for good; gives the exit code. */
export async function trust(
  { words, flags }: TrustCommand,
  terminal: Terminal,
): Promise<number> {
  const { action, names } = wantedOf(words, flags);
  const { project } = await openApp();
  if (action === "list") return await tell(await trustList(project), flags, terminal);
  if (action === "show") return await tell(await trustPage(names[0] ?? "", project), flags, terminal);
  const isTyped = terminal.stdinIsTerminal && terminal.stderr.isTerminal;
  return await CHANGES[action]({
    project,
    names,
    flags,
    terminal,
    notice: warningsTo(terminal),
    user: async () => isTyped ? await typistAt(terminal) : nobody,
  });
}

type Action = "list" | "show" | "allow" | "deny" | "minimise";

function wantedOf(
  words: readonly string[],
  { json, minimise, yes }: TrustCommand["flags"],
): { readonly action: Action; readonly names: readonly string[] } {
  const [first, ...rest] = words;
  const usage = (problem: string) => new UsageError(problem, "trust");
  const isChange = first === "allow" || first === "deny";
  if (json && (minimise || isChange)) throw usage("--json belongs to the list: orrery trust --json");
  if (yes && !minimise) throw usage("--yes belongs to --minimise: nothing else asks");
  if (minimise) {
    if (isChange) throw usage(`--minimise takes names of gadgets only; found "${first}" too`);
    return { action: "minimise", names: words };
  }
  if (isChange) {
    if (rest.length === 0) {
      throw usage(
        `orrery trust ${first} needs NAME: the gadget, its file or the stem of it, or the MCP server`,
      );
    }
    return { action: first, names: rest };
  }
  if (rest.length > 0) {
    const near = nearestName(first ?? "", ["allow", "deny"]);
    const meant = near === undefined ? `allow ${words.join(" ")}` : `${near} ${rest.join(" ")}`;
    throw usage(
      `orrery trust shows one gadget; found "${rest[0]}" too. To change something: orrery trust ${meant}`,
    );
  }
  return first === undefined ? { action: "list", names: [] } : { action: "show", names: [first] };
}

/** What is to be changed. */
interface TrustChange {
  readonly project: ProjectSettings;
  readonly names: readonly string[];
  readonly flags: TrustCommand["flags"];
  readonly terminal: Terminal;
  /** Told what is odd, a line each. */
  readonly notice: (text: string) => void;
  /** Whoever can be asked here. */
  readonly user: () => Promise<User>;
}

const CHANGES = { allow: allowForGood, deny: denyAgain, minimise };

/** `orrery trust allow NAME...`: writes the gadgets into the lock as they are now, and servers where they belong. */
async function allowForGood(change: TrustChange): Promise<number> {
  const { project, names, flags, terminal, notice } = change;
  const { root } = project;
  const grants = await grantsOf(change);
  if (grants === undefined) return await refuse(NOT_COUNTING, terminal);
  const { gadgets, servers } = await describeNamed(names, { project, files: flags.gadget, notice });
  if (gadgets.length > 0) await grants.keep(gadgets.map((gadget) => lockedGadget(gadget, { root })));
  await terminal.stdout.write(printable(gadgets.map((gadget) => allowedText(gadget, root)).join("")));
  const allowed = servers.length === 0
    ? []
    : await allowServers(servers, { project, keeper: grants.keeper, notice });
  await terminal.stdout.write(printable(allowed.map(allowedServerText).join("")));
  return EXIT.ok;
}

/** `orrery trust deny NAME...`: takes gadgets and servers out of what is allowed for good. @throws {UsageError} for one that is not in it */
async function denyAgain(change: TrustChange): Promise<number> {
  const { project, names, terminal, notice } = change;
  const rows = await trustRows(project);
  const denied = allNamed(names, rows);
  await takeOut(denied, { project, rows, notice });
  // What settings grant has no file of its own, and is taken out there by hand.
  const isInSettings = ({ kind, file }: TrustRow) => kind === "gadget" && file === undefined;
  const gone = new Set(denied.filter((row) => !isInSettings(row)).map(({ name }) => name));
  const elsewhere = denied.filter(isInSettings);
  const lines = [...gone].map((name) => `${shownWord(name)} is not allowed any more\n`);
  const warnings = elsewhere.map(({ name, from }) =>
    `warning: ${from} still grants ${shownWord(name)}: take it out there\n`
  );
  await terminal.stdout.write(printable(lines.join("")));
  await terminal.stderr.write(printable(warnings.join("")));
  return EXIT.ok;
}

/** `orrery trust --minimise [NAME...]`: leaves what was really used. @throws {UsageError} for a name that is not in the lock */
async function minimise(change: TrustChange): Promise<number> {
  const { project, names, flags, terminal } = change;
  const { root, lock } = project;
  const locked = lock?.lock.gadgets ?? [];
  const wanted = names.length === 0 ? locked : allNamed(names, locked);
  const grants = await grantsOf(change);
  if (grants === undefined) return await refuse(NOT_COUNTING, terminal);
  const smaller: LockedGadget[] = [];
  for (const gadget of wanted) {
    const isEmpty = isEmptyPermissions(gadget.permissions);
    const { calls, used } = isEmpty ? { calls: 0, used: [] } : await usedSoFar(gadget, project);
    const permissions = minimisedPermissions(gadget.permissions, used, { root });
    const isSame = canonicalJson(permissions) === canonicalJson(gadget.permissions);
    if (calls > 0 && !isSame) smaller.push({ ...gadget, permissions });
    const text = isEmpty
      ? `${shownWord(gadget.name)} may do nothing, so there is nothing to take away\n`
      : minimisedText(gadget, { calls, permissions, isSame, root });
    await terminal.stdout.write(printable(text));
  }
  if (smaller.length === 0) return EXIT.ok;
  const user = flags.yes ? undefined : await change.user();
  if (user?.canAnswer === false) {
    return await refuse("Nothing was written, since nobody can be asked here: add --yes", terminal);
  }
  const question = `Write this to ${lock?.file ?? LOCK_FILE}?`;
  const isWanted = user === undefined || await user.ask(question, { choices: ["yes", "no"] }) === "yes";
  if (isWanted) await grants.keep(smaller);
  else await terminal.stderr.write("Nothing was written\n");
  return EXIT.ok;
}

/** @throws {UsageError} for a name that none has */
function allNamed<Entry extends Pick<TrustRow, "name" | "file">>(
  names: readonly string[],
  entries: readonly Entry[],
): readonly Entry[] {
  const found = names.map((name) => ({ name, of: namedBy(name, entries) }));
  const missing = found.find(({ of }) => of.length === 0);
  if (missing !== undefined) throw notAllowed(missing.name, entries);
  return [...new Set(found.flatMap(({ of }) => of))];
}

/** Undefined when what the lock says would count for nothing. */
async function grantsOf({ project, flags, notice, user }: TrustChange) {
  return await acceptedGrants(project, { trustsProject: flags["trust-project"], user, notice });
}

const NOT_COUNTING =
  `${LOCK_FILE} counts for nothing in a project that you have not accepted: add --trust-project`;

async function refuse(text: string, { stderr }: Terminal): Promise<number> {
  await stderr.write(plainErrorFrame(text, { paint: paintFor(hasColor(stderr)) }));
  return EXIT.refused;
}

function allowedText({ name, permissions }: GadgetToGrant, root: string): string {
  const lines = permissionLines(permissions, { root, sightOf });
  if (lines.length === 0) return `${shownWord(name)} is allowed as it is now; it asks for nothing\n`;
  return `${shownWord(name)} is allowed for good to\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function allowedServerText({ name, gadgets }: AllowedServer): string {
  const tools = gadgets.length === 0
    ? "it has no tools"
    : `with its tools as they are: ${gadgets.join(", ")}`;
  return `The MCP server ${shownWord(name)} is allowed for good, ${tools}\n`;
}

function minimisedText(
  { name, permissions: before }: LockedGadget,
  { calls, permissions, isSame, root }: {
    readonly calls: number;
    readonly permissions: LockedGadget["permissions"];
    readonly isSame: boolean;
    readonly root: string;
  },
): string {
  const gadget = shownWord(name);
  if (calls === 0) return `${gadget} is left as it is: no run that is kept called it\n`;
  if (isSame) return `${gadget} used all that it may do\n`;
  const left = permissionLines(permissions, { root, sightOf }).map((line) => `still: ${line}`);
  const lines = [...permissionChanges(before, permissions, { root }), ...left];
  return `${gadget} in ${calls} ${calls === 1 ? "call" : "calls"}\n${
    lines.map((line) => `  ${line}\n`).join("")
  }`;
}
