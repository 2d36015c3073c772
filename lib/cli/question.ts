/** The question with the text of a pipe behind it, between marks that do not occur in it; a pipe without text is none. */
export function question(words: readonly string[], piped: string | undefined): string {
  const text = words.join(" ").trim();
  const context = piped === undefined || piped.trim() === "" ? "" : piped;
  if (context === "" || text === "") return text === "" ? context : text;
  const mark = freeMark(context);
  return `${text}\n\n<${mark}>\n${context}${context.endsWith("\n") ? "" : "\n"}</${mark}>`;
}

function freeMark(context: string): string {
  for (let n = 1;; n++) {
    const mark = n === 1 ? "stdin" : `stdin-${n}`;
    if (!context.includes(`</${mark}>`)) return mark;
  }
}
