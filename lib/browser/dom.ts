/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** What an element says of itself: texts, numbers, flags (true: there, empty), handlers of events. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined | ((event: Event) => void);
}

/** What stands in an element; `undefined` and `false` are nothing. */
export type Part = Node | string | undefined | false;

/**
 * Makes an element. Text is text, whatever is in it: nothing here reads markup.
 *
 *     el("button", { type: "button", class: "main", onclick: send }, "Send")
 */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...parts: readonly Part[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...parts.filter((part) => part !== undefined && part !== false));
  return made;
}

/** The same for a picture. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...parts: readonly Part[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(made, attributes);
  made.append(...parts.filter((part) => part !== undefined && part !== false));
  return made;
}

/** Sets attributes of an element that is there; `undefined` and `false` take one away. */
function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** The first element below that a selector finds, when it is of this class; without one of any of HTML. */
export function maybeFind(selector: string): HTMLElement | undefined;
export function maybeFind<Type extends Element>(
  selector: string,
  type: new () => Type,
  root?: ParentNode,
): Type | undefined;
export function maybeFind(
  selector: string,
  type: new () => Element = HTMLElement,
  root: ParentNode = document,
): Element | undefined {
  const found = root.querySelector(selector);
  return found instanceof type ? found : undefined;
}

/** All of them. */
export function findAll(selector: string): readonly HTMLElement[];
export function findAll<Type extends Element>(
  selector: string,
  type: new () => Type,
  root?: ParentNode,
): readonly Type[];
export function findAll(
  selector: string,
  type: new () => Element = HTMLElement,
  root: ParentNode = document,
): readonly Element[] {
  return [...root.querySelectorAll(selector)].filter((found) => found instanceof type);
}

/** Whether the reader is typing: letters are no keys then. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
