// `${env.NAME}` in agent files (conversations.md 3). It counts where the file says it, and never in what a slot puts there.

import type { EnvValues } from "./env_values.ts";

const VARIABLE = /\$\{env\.([A-Za-z_]\w*)\}/g;

/** A filled text with the places of variables in it. */
export class EnvText {
  /** Texts and the names between them, in turn. */
  readonly #parts: readonly string[];

  /** @param fill fills the placeholders of what stands between the variables */
  constructor(text: string, fill: (text: string) => string) {
    this.#parts = text.split(VARIABLE).map((part, index) => index % 2 === 0 ? fill(part) : part);
  }

  /** With `${env.NAME}` as it was written: for everybody but the server. */
  get shown(): string {
    return this.#filled((name) => `\${env.${name}}`);
  }

  get names(): readonly string[] {
    return this.#parts.filter((_, index) => index % 2 === 1);
  }

  with(values: EnvValues): string {
    return this.#filled((name) => values.get(name));
  }

  #filled(value: (name: string) => string): string {
    return this.#parts.map((part, index) => index % 2 === 0 ? part : value(part)).join("");
  }
}
