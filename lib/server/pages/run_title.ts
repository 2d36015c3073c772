/** What a run is called that has no file. */
export function runTitle(kind: string): string {
  return TITLES.get(kind) ?? kind;
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ["calls", "Calls"],
  ["ask", "A question to a model"],
  ["chat", "A chat with a model"],
  ["prompt", "A prompt"],
  ["document", "A document"],
  ["conversation", "A conversation"],
]);
