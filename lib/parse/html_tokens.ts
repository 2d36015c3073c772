/** A part of an HTML page. Character references are not resolved. */
export type HtmlToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly name: string; readonly attributes: string }
  | { readonly kind: "close"; readonly name: string };

/** What is in them is no markup; of these, only a title is text for readers. */
const RAW = new Set(["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"]);

/** Parts an HTML page into tags and text, in one pass from start to end; wrong HTML too gives something. */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const open = nextMarkup(html, at);
    if (open > at) yield { kind: "text", text: html.slice(at, open) };
    if (open >= html.length) return;
    const tag = readMarkup(html, open);
    at = tag.end;
    if (tag.token === undefined) continue;
    yield tag.token;
    if (tag.token.kind !== "open" || !RAW.has(tag.token.name)) continue;
    const end = endOfRaw(html, { from: at, name: tag.token.name });
    if (end > at) yield { kind: "text", text: html.slice(at, end) };
    at = end;
  }
}

/** A "<" before a letter, "/", "!" or "?"; any other one is text. */
function nextMarkup(html: string, from: number): number {
  const markup = /<[A-Za-z/!?]/g;
  markup.lastIndex = from;
  return markup.exec(html)?.index ?? html.length;
}

function readMarkup(html: string, open: number): { readonly token?: HtmlToken; readonly end: number } {
  if (html.startsWith("<!--", open)) return { end: after(html, "-->", open + 4) };
  if (html.startsWith("<![CDATA[", open)) {
    const end = after(html, "]]>", open);
    return { token: { kind: "text", text: html.slice(open + 9, end).replace(/\]\]>$/, "") }, end };
  }
  const name = /<(\/?)([A-Za-z][^\s/>]*)/y;
  name.lastIndex = open;
  const found = name.exec(html);
  if (found === null) return { end: after(html, ">", open) };
  const end = endOfTag(html, name.lastIndex);
  const tagName = (found[2] ?? "").toLowerCase();
  if (found[1] === "/") return { token: { kind: "close", name: tagName }, end };
  return { token: { kind: "open", name: tagName, attributes: html.slice(name.lastIndex, end - 1) }, end };
}

/** A ">" inside a quoted value does not end a tag. */
function endOfTag(html: string, from: number): number {
  const stop = /=\s*(["'])|>/g;
  stop.lastIndex = from;
  for (let found = stop.exec(html); found !== null; found = stop.exec(html)) {
    if (found[1] === undefined) return stop.lastIndex;
    stop.lastIndex = after(html, found[1], stop.lastIndex);
  }
  return html.length;
}

function endOfRaw(html: string, { from, name }: { from: number; name: string }): number {
  const close = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  close.lastIndex = from;
  return close.exec(html)?.index ?? html.length;
}

function after(html: string, wanted: string, from: number): number {
  const at = html.indexOf(wanted, from);
  return at < 0 ? html.length : at + wanted.length;
}

/** The value of an attribute; the empty text when it has none. Undefined when it is not there. */
export function maybeAttribute(attributes: string, wanted: string): string | undefined {
  for (const found of attributes.matchAll(/([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) {
    if (found[1]?.toLowerCase() === wanted) return found[2] ?? found[3] ?? found[4] ?? "";
  }
  return undefined;
}
