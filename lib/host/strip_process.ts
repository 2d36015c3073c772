// TypeScript is stripped of its types by the runtime itself, where that can: a tenth of a second sooner than by a package. In a process of its
// own, since a text that is nested too deeply ends the process, and some take it for ever.

import { isRecord } from "../core/json.ts";
import { boundToUs } from "./bound_child.ts";
import { killChild, startChild } from "./child_start.ts";
import { atExit, isCompiled, isDeno29 } from "./process.ts";
import { quietTimer } from "./quiet_timer.ts";
import { bareDeno } from "./start_gadget_command.ts";

/** Until it has said that it can. */
const START_MS = 10_000;

/** What came of a text: JavaScript with its source map, or what became of the process. Undefined: another stripper has to say. */
export type RuntimeStripped =
  | { readonly code: string; readonly map: string }
  | { readonly problem: "crash" | "late" }
  | undefined;

/** Strips one text after the other. */
export interface StripProcess {
  /** Starts it, for texts that will come at once. */
  warm(): void;
  strip(text: string): Promise<RuntimeStripped>;
  /** Ends it; comes back when it is gone. The next text starts another one. */
  end(): Promise<void>;
}

/** Undefined where the runtime cannot: before Deno 2.9, and in the compiled binary. @param options.limitMs for one text */
export function maybeStripProcess(options: { readonly limitMs: number }): StripProcess | undefined {
  return isDeno29() && !isCompiled() ? new RuntimeStripper(options) : undefined;
}

class RuntimeStripper implements StripProcess {
  readonly #limitMs: number;
  #child: StripChild | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ limitMs }: { readonly limitMs: number }) {
    this.#limitMs = limitMs;
  }

  warm(): void {
    this.#child ??= StripChild.maybe();
  }

  strip(text: string): Promise<RuntimeStripped> {
    const asked = this.#last.then(() => this.#ask(text));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.end();
  }

  async #ask(text: string): Promise<RuntimeStripped> {
    this.warm();
    const child = this.#child;
    if (child === undefined || !await child.canStrip) return undefined;
    const answer = await child.ask(text, this.#limitMs);
    if (answer.kind === "line") return strippedIn(answer.line);
    if (this.#child === child) await this.end();
    return { problem: answer.kind };
  }
}

function strippedIn(line: string): RuntimeStripped {
  const found: unknown = JSON.parse(line);
  if (!isRecord(found)) return undefined;
  const { code, map } = found;
  return typeof code === "string" && typeof map === "string" ? { code, map } : undefined;
}

type Answer = { readonly kind: "line"; readonly line: string } | { readonly kind: "crash" | "late" };

/** The process. */
class StripChild {
  /** Whether the runtime has what it takes; never fails. */
  readonly canStrip: Promise<boolean>;
  readonly #child: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stdout: ReadableStreamDefaultReader<Uint8Array>;
  /** Should our own process end first. */
  readonly #exit: Disposable;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #ending: Promise<void> | undefined;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#exit = atExit(() => killChild(child));
    this.#stdin = child.stdin.getWriter();
    this.#stdin.closed.catch(() => undefined); // told by the write that failed
    this.#stdout = child.stdout.getReader();
    child.stderr.cancel().catch(() => undefined);
    this.canStrip = this.#within(START_MS, this.#line()).then(({ kind }) => kind === "line");
  }

  /** Undefined where nothing may be started. */
  static maybe(): StripChild | undefined {
    const { command, args, env } = bareDeno({ module: new URL("./strip_types.ts", import.meta.url).href });
    try {
      return new StripChild(startChild(command, { args, env, inherit: [], stdin: "piped", ...boundToUs() }));
    } catch {
      return undefined;
    }
  }

  /** What it says to a text. */
  async ask(text: string, limitMs: number): Promise<Answer> {
    const line = new TextEncoder().encode(`${JSON.stringify(text)}\n`);
    this.#stdin.write(line).catch(() => undefined); // it has ended: so has what it says
    return await this.#within(limitMs, this.#line());
  }

  end(): Promise<void> {
    return this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    killChild(this.#child);
    await this.#child.status;
    for (const closed of [this.#stdin.abort(), this.#stdout.cancel()]) closed.catch(() => undefined);
    this.#exit[Symbol.dispose]();
  }

  async #within(limitMs: number, said: Promise<string | undefined>): Promise<Answer> {
    let isLate = false;
    using _timer = quietTimer(limitMs, () => {
      isLate = true;
      killChild(this.#child);
    });
    const line = await said.catch(() => undefined);
    return line === undefined ? { kind: isLate ? "late" : "crash" } : { kind: "line", line };
  }

  /** Undefined at the end. */
  async #line(): Promise<string | undefined> {
    const parts = [this.#rest];
    while (true) {
      const { value } = await this.#stdout.read();
      if (value === undefined) return undefined;
      const part = this.#decoder.decode(value, { stream: true });
      const end = part.indexOf("\n");
      parts.push(end < 0 ? part : part.slice(0, end));
      if (end < 0) continue;
      this.#rest = part.slice(end + 1);
      return parts.join("");
    }
  }
}
