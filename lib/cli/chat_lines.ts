import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import { callText } from "./call_source.ts";

/** Where the messages of a conversation come from; undefined ends it. */
export interface ChatLines {
  next(): Promise<string | undefined>;
}

const PROMPT = "> ";
const MORE = "… ";

const HELP = `A line is a message.
  \\        at the end of a line: the message goes on in the next one
  """      alone in a line: begins and ends a message of several lines
  /help    shows this
  /quit    ends the conversation, as Ctrl-D does; orrery resume goes on with it
  Ctrl-C   stops the answer; once more ends the conversation
`;

/** Messages that are typed. */
export function typedMessages(
  user: TerminalUser,
  { say }: { readonly say: (text: string) => Promise<void> },
): ChatLines {
  return {
    async next() {
      while (true) {
        const line = await user.line(PROMPT);
        if (line === undefined || line.trim() === "/quit") return undefined;
        if (line.trim() === "/help") await say(HELP);
        else if (/^\/\w+$/.test(line.trim())) {
          await say(`There is no ${line.trim()}; /help shows what there is\n`);
        } else {
          const message = line.trim() === '"""' ? await quotedLines(user) : await continuedLine(user, line);
          if (message === undefined) return undefined;
          if (message.trim() !== "") return message;
        }
      }
    },
  };
}

/** Up to the line that ends it; the end of the input ends it too. */
async function quotedLines(user: TerminalUser): Promise<string | undefined> {
  const lines: string[] = [];
  for (let line = await user.line(MORE); line !== undefined; line = await user.line(MORE)) {
    if (line.trim() === '"""') return lines.join("\n");
    lines.push(line);
  }
  return lines.length === 0 ? undefined : lines.join("\n");
}

async function continuedLine(user: TerminalUser, first: string): Promise<string> {
  const lines: string[] = [];
  let line: string | undefined = first;
  while (line?.endsWith("\\")) {
    lines.push(line.slice(0, -1));
    line = await user.line(MORE);
  }
  if (line !== undefined) lines.push(line);
  return lines.join("\n");
}

/** A message a line, as a pipe brings them; empty lines are none. @throws {FileError} for what is not UTF-8 text */
export function pipedMessages(terminal: Terminal, signal: AbortSignal): ChatLines {
  const lines = linesOf(callText(terminal.stdinChunks({ signal }), "stdin"));
  return {
    async next() {
      const { value } = await lines.next();
      return value === undefined ? undefined : value;
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
