import { type ContentPart, messageOf, orAborted, type Words, wordsWith } from "../../core/core.ts";
import { exitProcess } from "../../host/process.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { TerminalUser } from "../../host/terminal/user.ts";
import { table } from "../../render/cells.ts";
import { EXIT } from "../../service/exit_code.ts";
import { attachedFiles, type AttachOptions } from "../../service/input/attached.ts";
import type { Interruptible } from "../run/around.ts";
import { callText } from "../run/source.ts";

/** Where the messages of a conversation come from; undefined ends it. */
export interface ChatLines {
  next(): Promise<Words | undefined>;
  /** Whether another message is there already; it is taken. Default: no. */
  hasMore?(): Promise<boolean>;
}

/** The next message; undefined at the end, and when the signal ends the wait. */
export async function nextMessage(lines: ChatLines, signal: AbortSignal): Promise<Words | undefined> {
  if (signal.aborted) return undefined;
  try {
    return await orAborted(lines.next(), signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Files for the message that is said next. */
export class MessageFiles {
  readonly #options: AttachOptions;
  #files: readonly ContentPart[] = [];

  constructor(options: AttachOptions) {
    this.#options = options;
  }

  /** Reads files that the command line names. @throws as `attachedFiles` */
  async add(named: readonly string[], flag?: string): Promise<void> {
    this.#files = [...this.#files, ...await attachedFiles(named, { ...this.#options, flag })];
  }

  /** What is said, with them: they go with one message. */
  take(text: string): Words {
    const words = wordsWith(text, this.#files);
    this.#files = [];
    return words;
  }

  /** `/attach FILE`. */
  command(say: (text: string) => Promise<void>): ChatCommand {
    return {
      takes: "FILE",
      help: "shows a file, or what is at a URL, with the next message",
      run: async (named) => {
        try {
          if (named === "") throw new Error("/attach takes a file or a URL: an image, a PDF or text");
          await this.add([named], "/attach");
          await say(`${named} goes with the next message\n`);
        } catch (error) {
          await say(`${messageOf(error)}\n`);
        }
        return "on";
      },
    };
  }
}

const PROMPT = "> ";
const MORE = "… ";

/** Something besides a message that can be typed: `/NAME`. */
export interface ChatCommand {
  /** What stands behind the name, as the help shows it. Default: nothing. */
  readonly takes?: string;
  readonly help: string;
  /** Does it, and says whether the conversation goes on. */
  run(argument: string): Promise<"on" | "over">;
}

/** How typed messages are taken. */
export interface TypedMessagesOptions {
  readonly say: (text: string) => Promise<void>;
  /** Ends the wait for a message. */
  readonly signal: AbortSignal;
  /** What goes with a message. */
  readonly files: MessageFiles;
  /** By name, in the order of the help. Default: those of every conversation. */
  readonly commands?: Readonly<Record<string, ChatCommand>>;
  /** Said of an empty message. Default: it is passed over in silence. */
  readonly emptyText?: string;
}

/** Messages that are typed. */
export function typedMessages(user: TerminalUser, options: TypedMessagesOptions): ChatLines {
  const { say, signal, files, emptyText = "" } = options;
  const lineBehind = (prompt: string) => user.line(prompt, signal);
  const commands: Readonly<Record<string, ChatCommand>> = {
    help: {
      help: "shows this",
      run: async () => {
        await say(helpText(commands));
        return "on";
      },
    },
    attach: files.command(say),
    ...options.commands,
    quit: {
      help: "ends it for now, as Ctrl-D does; orrery resume goes on with it",
      run: () => Promise.resolve("over"),
    },
  };
  return {
    async next() {
      for (let line = await lineBehind(PROMPT); line !== undefined; line = await lineBehind(PROMPT)) {
        const [, name = "", argument = ""] = /^\/(\w+)(?:\s+(\S.*))?$/.exec(line.trim()) ?? [];
        const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
        // A message may begin with a slash too.
        if (name !== "" && (argument === "" || command?.takes !== undefined)) {
          if (command === undefined) await say(`There is no /${name}; /help shows what there is\n`);
          else if (await command.run(argument) === "over") return undefined;
          continue;
        }
        const message = line.trim() === '"""'
          ? await quotedLines(lineBehind)
          : await continuedLine(lineBehind, line);
        if (message === undefined) return undefined;
        if (message.trim() !== "") return files.take(message);
        await say(emptyText);
      }
      await say("\n"); // what is said next would stand behind the prompt
      return undefined;
    },
  };
}

function helpText(commands: Readonly<Record<string, ChatCommand>>): string {
  const ways = [
    ["\\", "at the end of a line: the message goes on in the next one"],
    ['"""', "alone in a line: begins and ends a message of several lines"],
    ...Object.entries(commands).map(([name, { takes, help }]) => [
      takes === undefined ? `/${name}` : `/${name} ${takes}`,
      help,
    ]),
    ["Ctrl-C", "stops the answer; once more ends the conversation"],
  ];
  return `A line is a message.\n${table(ways).map((line) => `  ${line}\n`).join("")}`;
}

type LineBehind = (prompt: string) => ReturnType<TerminalUser["line"]>;

/** Up to the line that ends it; the end of the input ends it too. */
async function quotedLines(lineBehind: LineBehind): Promise<string | undefined> {
  const lines: string[] = [];
  for (let line = await lineBehind(MORE); line !== undefined; line = await lineBehind(MORE)) {
    if (line.trim() === '"""') return lines.join("\n");
    lines.push(line);
  }
  return lines.length === 0 ? undefined : lines.join("\n");
}

async function continuedLine(lineBehind: LineBehind, first: string): Promise<string> {
  if (!first.endsWith("\\")) return first;
  const next = await lineBehind(MORE);
  const begun = first.slice(0, -1);
  return next === undefined ? begun : `${begun}\n${await continuedLine(lineBehind, next)}`;
}

/** A message a line, as a pipe brings them; empty lines are none. @throws {FileError} for what is not UTF-8 text */
export function pipedMessages(terminal: Terminal, signal: AbortSignal, files: MessageFiles): ChatLines {
  const lines = linesOf(callText(terminal.stdinChunks({ signal }), "stdin"));
  return {
    async next() {
      const { value } = await lines.next();
      return value === undefined ? undefined : files.take(value);
    },
    async hasMore() {
      const soon = new Promise<false>((resolve) => setTimeout(() => resolve(false), 0));
      return await Promise.race([lines.next().then(({ value }) => value !== undefined), soon]);
    },
  };
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield line.replace(/\r$/, "");
  }
  if (rest.trim() !== "") yield rest;
  return undefined;
}

/** Ctrl-C in a conversation: the first stops the answer, the second ends the conversation in order, the third at once. */
export class ChatStop implements Interruptible {
  readonly #run = new AbortController();
  readonly #terminal: Terminal;
  readonly #say: (text: string) => void;
  #turn = new AbortController();
  #isAnswering = false;
  #isWarned = false;
  #cleanUp = () => {};
  readonly signal = this.#run.signal;
  isInterrupted = false;
  hasLeft = false;

  constructor(terminal: Terminal, say: (text: string) => void) {
    this.#terminal = terminal;
    this.#say = say;
    terminal.onInterrupt(() => this.#press());
  }

  /** Of the answer that is being written. */
  get turn(): AbortSignal {
    return this.#turn.signal;
  }

  leave(): void {
    this.hasLeft = true;
    this.#run.abort(new Error("nobody reads the answers any more"));
  }

  onSecond(cleanUp: () => void): void {
    this.#cleanUp = cleanUp;
  }

  /** A message was said: an answer comes. */
  answering(): void {
    this.#turn = new AbortController();
    this.#isAnswering = true;
    this.#isWarned = false;
  }

  /** The answer is there, and the next message is waited for. */
  listening(): void {
    this.#isAnswering = false;
    this.#isWarned = this.#turn.signal.aborted; // whoever stopped the answer was told
  }

  #press(): void {
    if (this.isInterrupted) {
      this.#cleanUp();
      exitProcess(EXIT.interrupted);
    }
    if (this.#isAnswering && !this.#turn.signal.aborted) {
      this.#turn.abort(new Error("the answer was stopped"));
      return this.#say("stopped; Ctrl-C once more ends the conversation");
    }
    if (!this.#isAnswering && !this.#isWarned) {
      this.#isWarned = true;
      return this.#say("Ctrl-C once more ends the conversation");
    }
    this.isInterrupted = true;
    const { stdinIsTerminal, stderr } = this.#terminal;
    if (!this.#isAnswering && stdinIsTerminal) void stderr.write("\n"); // behind the prompt, and ^C
    this.#run.abort(new Error("the conversation was interrupted"));
  }
}
