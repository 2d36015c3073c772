import { paged } from "../host/pager.ts";
import { hasColor } from "../host/terminal.ts";
import type { Terminal } from "../host/terminal.ts";
import { markdownText } from "../render/markdown_text.ts";
import { helpFile } from "./help_files.ts";

/** Shows a page of lib/help: as it is in a pipe, drawn and through the pager in a terminal. */
export async function showTopic(topic: string, { stdout, size }: Terminal): Promise<void> {
  const page = await helpFile(`${topic}.md`) ?? "";
  if (!stdout.isTerminal) return await stdout.write(page);
  const { columns, rows } = size();
  const text = markdownText(page, { columns, color: hasColor(stdout) });
  if (text.split("\n").length > rows && await paged(text)) return;
  await stdout.write(text);
}
