// The values of `${env.NAME}`: they go into a request, and nowhere else (conversations.md 3).

import type { Secrets } from "../core/secrets.ts";
import { messageOf } from "../core/source_error.ts";
import { PermissionRefused } from "../core/world.ts";

/** A shorter value cannot be told from ordinary text (turn.md 3). */
const MIN_SECRET_LENGTH = 8;

/** Takes values out of what a server says, which may repeat what it was sent. */
type AnswerMask = Pick<Secrets, "mask" | "stream">;

/** Values of variables by name, and how they are kept out of what others see. */
export class EnvValues {
  readonly #values: ReadonlyMap<string, string>;

  private constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** @throws {PermissionRefused}; {Error} that says what to do */
  static async read(
    names: Iterable<string>,
    env: (name: string) => string | Promise<string>,
  ): Promise<EnvValues> {
    const values = new Map<string, string>();
    for (const name of new Set(names)) values.set(name, await env(name));
    return new EnvValues(values);
  }

  get(name: string): string {
    return this.#values.get(name) ?? "";
  }

  /** What an error says of a request, without the values. */
  hiddenIn(error: unknown): Error {
    const hide = (text: string): string => hidden(text, this.#forms(1));
    if (!(error instanceof PermissionRefused)) return new Error(hide(messageOf(error)));
    const { message, request, flag } = error;
    return new PermissionRefused(hide(message), {
      request: { ...request, value: hide(request.value) },
      flag: hide(flag),
    });
  }

  /** What the run knows of secrets is taken out too; from now on that is these values, wherever they turn up. */
  answerMask(secrets: Secrets | undefined): AnswerMask {
    const own = ownMask(this.#forms(MIN_SECRET_LENGTH));
    if (secrets === undefined) return own;
    for (const [name, value] of this.#values) secrets.add(name, value);
    return {
      mask: (text) => secrets.mask(own.mask(text)),
      stream() {
        const [inner, outer] = [own.stream(), secrets.stream()];
        return {
          push: (text) => outer.push(inner.push(text)),
          end: () => outer.push(inner.end()) + outer.end(),
        };
      },
    };
  }

  /** The longest first. */
  #forms(minLength: number): readonly Form[] {
    const forms = [...this.#values].flatMap(([name, given]) => {
      const value = given.trim();
      if (value.length < minLength) return [];
      return formsOf(value.toWellFormed()).map((text) => ({ text, label: `\${env.${name}}` }));
    });
    return forms.sort((a, b) => b.text.length - a.text.length);
  }
}

/** As it is, in JSON, and as a part of a URL: as a whole component, and as a URL takes what it is given. */
function formsOf(value: string): readonly string[] {
  const { pathname } = new URL(`http://a/${value.replaceAll("?", "%3F").replaceAll("#", "%23")}`);
  const { search } = new URL(`http://a/?${value.replaceAll("#", "%23")}`);
  const encoded = [encodeURI(value), encodeURIComponent(value), pathname.slice(1), search.slice(1)];
  return [...new Set([value, JSON.stringify(value).slice(1, -1), ...encoded])].filter((text) => text !== "");
}

interface Form {
  readonly text: string;
  readonly label: string;
}

function hidden(text: string, forms: readonly Form[]): string {
  return forms.reduce((rest, form) => rest.replaceAll(form.text, () => form.label), text);
}

function ownMask(forms: readonly Form[]): AnswerMask {
  const mask = (text: string): string => hidden(text, forms);
  return {
    mask,
    stream() {
      let held = "";
      return {
        push(text) {
          const whole = mask(held + text);
          const until = openFrom(whole, forms);
          held = whole.slice(until);
          return whole.slice(0, until);
        },
        end: () => held,
      };
    },
  };
}

/** Where the end of the text begins that may be the beginning of a form. */
function openFrom(text: string, forms: readonly Form[]): number {
  const longest = forms[0]?.text.length ?? 0;
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
    const rest = text.slice(at);
    if (forms.some((form) => form.text.startsWith(rest))) return at;
  }
  return text.length;
}
