import type { DocumentFile } from "../parse/document_file.ts";
import type { CheckContext, PlacedOperation } from "./check_context.ts";
import { placeOf } from "./check_context.ts";
import { narrowedAway, type Narrowing } from "./narrowing.ts";
import type { Soon } from "./check_options.ts";

/** What the front matter of a document asks for and nobody granted, or the documents that run it do not allow (documents.md 13.2, 13.3). */
export async function checkDeclared(
  { path, settings }: DocumentFile,
  { narrowing, context }: { readonly narrowing: Narrowing; readonly context: CheckContext },
): Promise<void> {
  const { root } = context.options;
  const place = { file: path, line: settings.lines.get("permissions") ?? 1 };
  for (const { kind, value, isGranted } of wantedBy({ path, settings }, context)) {
    const isPath = value !== undefined && (kind === "read" || kind === "write");
    const against = narrowedAway(narrowing, { kind, root, ...(isPath && { path: value }) });
    const what = `the document asks for ${kind} permission${value === undefined ? "" : ` for "${value}"`}`;
    const flag = value === undefined
      ? kind === "run" ? runFlag(context) : `--allow-${kind}`
      : `--allow-${kind}=${isPath ? flagPath(value, context) : value}`;
    if (against !== undefined) context.problems.error(place, `${what}, ${against}`);
    else if (!await isGranted) context.problems.error(place, `${what}, which was not granted (${flag})`);
  }
}

interface Wanted {
  readonly kind: "read" | "write" | "net" | "run";
  readonly value?: string;
  readonly isGranted: Soon<boolean>;
}

function wantedBy(
  { settings }: Pick<DocumentFile, "path" | "settings">,
  { options, files }: CheckContext,
): Wanted[] {
  const { grants } = options;
  const { read, write, net, run } = settings.permissions;
  const wanted: Wanted[] = [];
  // Without a list, read means the project, which every document may read.
  for (const value of listOf(read)) {
    wanted.push({ kind: "read", value, isGranted: grants.mayRead(files.shown(value)) });
  }
  if (write === true) wanted.push({ kind: "write", isGranted: grants.mayWrite() });
  for (const value of listOf(write)) {
    wanted.push({ kind: "write", value, isGranted: grants.mayWrite(files.shown(value)) });
  }
  if (net === true) wanted.push({ kind: "net", isGranted: grants.mayConnect() });
  for (const value of listOf(net)) wanted.push({ kind: "net", value, isGranted: grants.mayConnect(value) });
  if (run === true) wanted.push({ kind: "run", isGranted: grants.mayRun() });
  return wanted;
}

function listOf(value: boolean | readonly string[] | undefined): readonly string[] {
  return typeof value === "object" ? value : [];
}

/** Whether an `@shell` may run. */
export async function checkShell(placed: PlacedOperation, context: CheckContext): Promise<void> {
  const { root, grants } = context.options;
  const against = narrowedAway(placed.document.narrowing, { kind: "run", root });
  if (against !== undefined) {
    context.problems.error(placeOf(placed), `@shell needs run permission, ${against}`);
  } else if (!await grants.mayRun()) {
    context.problems.error(placeOf(placed), `@shell needs run permission (${runFlag(context)})`);
  }
}

function flagPath(written: string, { options: { grants }, files }: CheckContext): string {
  return grants.flagPath?.(files.shown(written)) ?? written;
}

/** Who has allowed some commands meant to allow the shell too, or not: its name is what counts. */
function runFlag({ options: { grants } }: CheckContext): string {
  if (grants.runHint !== undefined) return grants.runHint;
  return grants.shell === undefined ? "--allow-run" : `--allow-run=${grants.shell}`;
}
