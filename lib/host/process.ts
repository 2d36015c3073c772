// On the path of `orrery --version`: imports nothing, so that it costs no more than an empty script.

/** What was typed after the program's name. */
export function commandLine(): readonly string[] {
  return Deno.args;
}

const lastWorks = new Set<() => void>();
let onRest = () => {};

/**
 * Something that has to be done before the process ends, however early that is; it may not wait. Dispose of it when there is no need
 * any more, such as when a child has ended by itself.
 */
export function atExit(work: () => void): Disposable {
  lastWorks.add(work);
  return {
    [Symbol.dispose]() {
      lastWorks.delete(work);
      if (lastWorks.size === 0) onRest();
    },
  };
}

/** Waits until there is nothing left to be done at the exit: an end in order gives children the time to end. */
export async function atRest(): Promise<void> {
  if (lastWorks.size > 0) await new Promise<void>((resolve) => onRest = resolve);
}

/** Ends the process; what is still waiting, such as a read from stdin, is given up. */
export function exitProcess(exitCode: number): never {
  for (const work of lastWorks) work();
  Deno.exit(exitCode);
}

/** Writes a few lines to stdout at once; a reader that has gone away is no error. */
export function printShort(text: string): void {
  writeShort(Deno.stdout, text);
}

/** The same for stderr. */
export function printShortError(text: string): void {
  writeShort(Deno.stderr, text);
}

function writeShort(output: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += output.writeSync(bytes.subarray(at));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Whether this is the compiled binary, which holds no TypeScript compiler. */
export function isCompiled(): boolean {
  return Deno.build.standalone;
}

/** Loads a module of the user by its `file:` URL. */
export function importModule(fileUrl: string): Promise<unknown> {
  return import(fileUrl);
}

let loadLibrary: (() => Promise<unknown>) | undefined;

/** Where the compiled binary has what a module imports from "orrery": only `main.ts` may name the door. */
export function provideLibrary(load: () => Promise<unknown>): void {
  loadLibrary = load;
}

/** Whether modules of the user can be loaded here: under `deno run`, and in the binary, not in a compiled program of the user's own. */
export function loadsModules(): boolean {
  return !isCompiled() || loadLibrary !== undefined;
}

/** The exports of "orrery" in the binary; elsewhere modules find it by themselves. */
export async function maybeLibrary(): Promise<unknown> {
  return isCompiled() ? await loadLibrary?.() : undefined;
}
