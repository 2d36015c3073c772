/** The longest name that clients take. */
const MAX_NAME = 64;

/** Gives each thing a name of `[A-Za-z0-9_-]`, at most 64 letters long; one that is taken gets `_2`, `_3`, … behind it. */
export class ToolNames {
  readonly #taken = new Set<string>();

  /** @param wanted any text, such as `prompt_research/task` */
  name(wanted: string): string {
    const base = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, "_");
    let name = base.slice(0, MAX_NAME);
    for (let n = 2; this.#taken.has(name); n++) name = `${base.slice(0, MAX_NAME - `_${n}`.length)}_${n}`;
    this.#taken.add(name);
    return name;
  }
}
