import { Tokenizer } from "htmlparser2";

/** What a reader sees of a page. */
export interface PageText {
  readonly title: string;
  /** Headings, lists and links as in Markdown. */
  readonly text: string;
}

/** Elements whose content no reader sees. */
const HIDDEN = new Set(["script", "style", "template", "svg", "math", "iframe", "noembed", "noframes"]);
const MAX_INDENT = 10;
/** How many line breaks an element has around it. */
const BREAKS: { readonly [name: string]: number } = {
  ...around(1, "br li tr dt dd option summary figcaption caption legend"),
  ...around(
    2,
    "p div section article main header footer nav aside address h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre form fieldset figure " +
      "details hr title body",
  ),
};

function around(count: number, names: string): Record<string, number> {
  return Object.fromEntries(names.split(" ").map((name) => [name, count]));
}

/**
 * The readable text of an HTML page; its links are made whole with `baseUrl`. Linear in the page: for the library's parser, which keeps a
 * stack of open elements, a page could be made that takes hours, so that only its tokenizer is used.
 */
export function htmlText(html: string, options: { readonly baseUrl: string }): PageText {
  const writer = new PageWriter(options.baseUrl);
  let name = "";
  let attributes = new Map<string, string>();
  let attribute = "";
  let value = "";
  const open = (isClosed: boolean) => {
    writer.open(name, attributes, isClosed);
    attributes = new Map();
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, {
    ontext: (start, end) => writer.text(html.slice(start, end)),
    ontextentity: (code) => writer.text(String.fromCodePoint(code)),
    oncdata: (start, end, offset) => writer.text(html.slice(start, end - offset)),
    onopentagname: (start, end) => name = html.slice(start, end).toLowerCase(),
    onattribname: (start, end) => [attribute, value] = [html.slice(start, end).toLowerCase(), ""],
    onattribdata: (start, end) => value += html.slice(start, end),
    onattribentity: (code) => value += String.fromCodePoint(code),
    onattribend: () => attributes.set(attribute, attributes.get(attribute) ?? value),
    onopentagend: () => open(false),
    onselfclosingtag: () => open(true),
    onclosetag: (start, end) => writer.close(html.slice(start, end).toLowerCase()),
    oncomment: () => {},
    ondeclaration: () => {},
    onprocessinginstruction: () => {},
    onend: () => {},
  });
  tokenizer.write(html);
  tokenizer.end();
  return writer.end();
}

class PageWriter {
  readonly #parts: string[] = [];
  #baseUrl: string;
  #title = "";
  #titleParts: string[] | undefined;
  /** Elements whose content is left out, how deep they are inside each other, and the outermost one. */
  #hidden: { readonly name: string; depth: number } | undefined;
  #preformatted = 0;
  /** Line breaks and a blank that are written only when more text comes. */
  #breaks = 0;
  #blank = false;
  #link: { readonly url: string; readonly at: number } | undefined;
  #items: number[] = [];

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  end(): PageText {
    this.#endLink();
    return { title: this.#title, text: this.#parts.join("").trimEnd() };
  }

  open(name: string, attributes: ReadonlyMap<string, string>, isClosed: boolean): void {
    if (this.#hidden !== undefined) {
      if (name === this.#hidden.name) this.#hidden.depth++;
      return;
    }
    if (HIDDEN.has(name)) {
      if (!isClosed) this.#hidden = { name, depth: 1 };
      return;
    }
    this.#break(name);
    switch (name) {
      case "title":
        this.#titleParts = [];
        return;
      case "base":
        this.#baseUrl = wholeUrl(attributes.get("href") ?? "", this.#baseUrl) ?? this.#baseUrl;
        return;
      case "pre":
        this.#preformatted++;
        return;
      case "ol":
        this.#items.push(1);
        return;
      case "ul":
        this.#items.push(0);
        return;
      case "a":
        return this.#startLink(attributes.get("href"));
      case "img":
        return this.text(attributes.get("alt") ?? "");
      case "td":
      case "th":
        return this.#startCell();
      case "li":
        return this.#startItem();
      default:
        if (/^h[1-6]$/.test(name)) this.#mark("#".repeat(Number(name.slice(1))) + " ");
    }
  }

  close(name: string): void {
    if (this.#hidden !== undefined) {
      if (name === this.#hidden.name && --this.#hidden.depth === 0) this.#hidden = undefined;
      return;
    }
    if (name === "title" && this.#titleParts !== undefined) {
      this.#title ||= this.#titleParts.join("").replaceAll(/\s+/g, " ").trim();
      this.#titleParts = undefined;
    }
    if (name === "a") this.#endLink();
    if (name === "pre") this.#preformatted = Math.max(0, this.#preformatted - 1);
    if (name === "ul" || name === "ol") this.#items.pop();
    this.#break(name);
  }

  #break(name: string): void {
    const count = Object.hasOwn(BREAKS, name) ? BREAKS[name] ?? 0 : 0;
    // A list inside an item of another one stays close to it.
    const isInner = (name === "ul" || name === "ol") && this.#items.length > 0;
    if (name === "br" && this.#breaks > 0) this.#breaks = 2;
    this.#breaks = Math.max(this.#breaks, isInner ? 1 : count);
  }

  text(text: string): void {
    if (this.#hidden !== undefined) return;
    if (this.#titleParts !== undefined) this.#titleParts.push(text);
    else if (this.#preformatted > 0) this.#write(text);
    else this.#words(text);
  }

  #words(text: string): void {
    const words = text.replaceAll(/[\s\u00A0]+/g, " ");
    const inner = words.trim();
    if (words.startsWith(" ")) this.#blank = true;
    if (inner === "") return;
    this.#write(inner);
    this.#blank = words.endsWith(" ");
  }

  #write(text: string): void {
    if (text === "") return;
    this.#mark("");
    this.#parts.push(text);
  }

  /** What stands before the next text: the line breaks that wait, or the blank. */
  #mark(text: string): void {
    const isFirst = this.#parts.length === 0;
    if (!isFirst && this.#breaks > 0) this.#parts.push("\n".repeat(this.#breaks));
    else if (!isFirst && this.#blank) this.#parts.push(" ");
    [this.#breaks, this.#blank] = [0, false];
    if (text !== "") this.#parts.push(text);
  }

  #startCell(): void {
    // The first cell of a row comes after its line break.
    if (this.#breaks > 0 || this.#parts.length === 0) return;
    this.#blank = false;
    this.#mark(" | ");
  }

  #startItem(): void {
    const number = this.#items.pop() ?? 0;
    // Bounded, or lists deep inside each other would make the text far longer than the page.
    const level = Math.min(this.#items.length, MAX_INDENT);
    this.#mark(`${"  ".repeat(level)}${number > 0 ? `${number}.` : "-"} `);
    this.#items.push(number > 0 ? number + 1 : 0);
  }

  #startLink(href: string | undefined): void {
    this.#endLink();
    const address = (href ?? "").trim();
    const url = address.startsWith("#") ? undefined : wholeUrl(address, this.#baseUrl);
    if (url === undefined || href === undefined) return;
    this.#mark("");
    this.#link = { url, at: this.#parts.length };
  }

  #endLink(): void {
    if (this.#link === undefined) return;
    const { url, at } = this.#link;
    this.#link = undefined;
    const text = this.#parts.splice(at).join("").replaceAll(/\s+/g, " ").trim();
    if (text !== "") this.#parts.push(`[${text}](${url})`);
  }
}

/** Of links, only those to pages are shown. */
function wholeUrl(address: string, base: string): string | undefined {
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
