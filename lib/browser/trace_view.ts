/// <reference lib="dom" />
// The timeline of a run under the hands of its reader: folding, a filter, keys. It imports nothing, because a trace that is written to a file
// has it inside. Without it everything can be read and opened all the same.

/** A line of the timeline. */
interface Row {
  readonly item: HTMLElement;
  readonly details: HTMLDetailsElement;
  readonly summary: HTMLElement;
  readonly twig: HTMLButtonElement | null;
  readonly depth: number;
  /** How many of the next rows lie below it. */
  readonly below: number;
  readonly isFailed: boolean;
  /** What the filter looks through, in small letters. */
  text: string | undefined;
  isFolded: boolean;
}

/** A timeline on the page. */
class TraceView {
  readonly #root: HTMLElement;
  readonly #rows: readonly Row[];
  readonly #filter: HTMLInputElement | null;
  readonly #failed: HTMLInputElement | null;
  readonly #count: HTMLElement | null;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#rows = [...root.querySelectorAll<HTMLElement>("[data-trace-row]")].flatMap(rowOf);
    this.#filter = root.querySelector("input[data-trace-filter]");
    this.#failed = root.querySelector("input[data-trace-failed]");
    this.#count = root.querySelector("[data-trace-count]");
  }

  start(): void {
    for (const bar of this.#root.querySelectorAll<HTMLElement>("[data-trace-tools]")) bar.hidden = false;
    for (const row of this.#rows) this.#startRow(row);
    this.#filter?.addEventListener("input", () => this.#show());
    this.#failed?.addEventListener("change", () => this.#show());
    this.#button("open", () => this.#openAll(true));
    this.#button("close", () => this.#openAll(false));
    this.#button("fold", () => this.#foldAll());
    this.#root.addEventListener("keydown", (event) => this.#onKey(event));
    document.addEventListener("keydown", (event) => this.#onPageKey(event));
    this.#openLinked();
    addEventListener("hashchange", () => this.#openLinked());
  }

  #startRow(row: Row): void {
    if (row.twig === null || row.below === 0) return;
    row.twig.hidden = false;
    row.twig.addEventListener("click", () => this.#fold(row, !row.isFolded));
  }

  #button(name: string, press: () => void): void {
    this.#root.querySelector(`[data-trace-do="${name}"]`)?.addEventListener("click", press);
  }

  /** A link to a row shows what is in it. */
  #openLinked(): void {
    const id = location.hash.slice(1);
    const row = id === "" ? undefined : this.#rows.find(({ item }) => item.id === id);
    if (row === undefined) return;
    row.details.open = true;
    row.summary.focus();
  }

  #fold(row: Row, isFolded: boolean): void {
    row.isFolded = isFolded;
    row.twig?.setAttribute("aria-expanded", String(!isFolded));
    this.#show();
  }

  #foldAll(): void {
    const isFolded = this.#rows.some((row) => row.depth === 0 && row.below > 0 && !row.isFolded);
    for (const row of this.#rows) {
      if (row.depth !== 0 || row.below === 0) continue;
      row.isFolded = isFolded;
      row.twig?.setAttribute("aria-expanded", String(!isFolded));
    }
    this.#show();
  }

  #openAll(isOpen: boolean): void {
    for (const { item, details } of this.#rows) if (!item.hidden) details.open = isOpen;
  }

  /** Rows that fit, with all that they lie below; a filter looks into what is folded too. */
  #show(): void {
    const wanted = this.#filter?.value.trim().toLowerCase() ?? "";
    const isFiltered = wanted !== "" || this.#failed?.checked === true;
    const shown = isFiltered ? this.#fitting(wanted) : this.#unfolded();
    let count = 0;
    for (const [index, row] of this.#rows.entries()) {
      row.item.hidden = shown[index] !== true;
      if (!row.item.hidden) count++;
    }
    if (this.#count !== null) {
      this.#count.textContent = isFiltered ? `${count} of ${this.#rows.length} lines` : "";
    }
  }

  #fitting(wanted: string): readonly boolean[] {
    const onlyFailed = this.#failed?.checked === true;
    const shown = this.#rows.map((row) => (!onlyFailed || row.isFailed) && textOf(row).includes(wanted));
    // From the end on: a row is shown when one that lies below it is.
    const needed: boolean[] = [];
    for (let index = this.#rows.length - 1; index >= 0; index--) {
      const depth = this.#rows[index]?.depth ?? 0;
      const isShown = shown[index] === true || needed[depth + 1] === true;
      needed.length = depth + 1;
      if (isShown) needed[depth] = true;
      shown[index] = isShown;
    }
    return shown;
  }

  #unfolded(): readonly boolean[] {
    let foldedUntil = 0;
    return this.#rows.map((row, index) => {
      if (index < foldedUntil) return false;
      if (row.isFolded) foldedUntil = index + row.below + 1;
      return true;
    });
  }

  #onPageKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || hasModifier(event) || isTyping(event.target)) return;
    if (event.key === "/" && this.#filter !== null) {
      event.preventDefault();
      this.#filter.focus();
      this.#filter.select();
    } else if ((event.key === "j" || event.key === "k") && this.#current() === undefined) {
      event.preventDefault();
      this.#focus(0, 1);
    }
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === "Escape" && event.target === this.#filter && this.#filter !== null) {
      this.#filter.value = "";
      this.#show();
      return;
    }
    const index = this.#current();
    if (index === undefined || hasModifier(event) || isTyping(event.target)) return;
    if (this.#rowKey(event.key, index)) event.preventDefault();
  }

  /** @returns whether it was a key of ours */
  #rowKey(key: string, index: number): boolean {
    const row = this.#rows[index];
    if (row === undefined) return false;
    const keys: Readonly<Record<string, () => void>> = {
      j: () => this.#focus(index + 1, 1),
      k: () => this.#focus(index - 1, -1),
      Home: () => this.#focus(0, 1),
      End: () => this.#focus(this.#rows.length - 1, -1),
      h: () => this.#toTheLeft(row, index),
      l: () => this.#toTheRight(row, index),
      o: () => row.details.open = !row.details.open,
    };
    const act = keys[ARROWS[key] ?? key];
    act?.();
    return act !== undefined;
  }

  /** Closes, then folds, then goes to the row that it lies below. */
  #toTheLeft(row: Row, index: number): void {
    if (row.details.open) row.details.open = false;
    else if (row.below > 0 && !row.isFolded) this.#fold(row, true);
    else this.#focus(this.#rows.findLastIndex((each, at) => at < index && each.depth < row.depth), -1);
  }

  /** Unfolds, then opens. */
  #toTheRight(row: Row, index: number): void {
    if (row.isFolded) this.#fold(row, false);
    else if (!row.details.open) row.details.open = true;
    else this.#focus(index + 1, 1);
  }

  /** The row that has the focus. */
  #current(): number | undefined {
    const { activeElement } = document;
    if (activeElement === null || !this.#root.contains(activeElement)) return undefined;
    const index = this.#rows.findIndex(({ item }) => item.contains(activeElement));
    return index === -1 ? undefined : index;
  }

  /** The first row from there on that is shown. */
  #focus(from: number, step: 1 | -1): void {
    for (let index = from; index >= 0 && index < this.#rows.length; index += step) {
      const row = this.#rows[index];
      if (row === undefined || row.item.hidden) continue;
      row.summary.focus();
      row.summary.scrollIntoView({ block: "nearest" });
      return;
    }
  }
}

const ARROWS: Readonly<Record<string, string>> = {
  ArrowDown: "j",
  ArrowUp: "k",
  ArrowLeft: "h",
  ArrowRight: "l",
};

function rowOf(item: HTMLElement): readonly Row[] {
  const details = item.querySelector("details");
  const summary = item.querySelector("summary");
  if (details === null || summary === null) return [];
  return [{
    item,
    details,
    summary,
    twig: item.querySelector<HTMLButtonElement>("button[data-twig]"),
    depth: Number(item.dataset.depth ?? 0),
    below: Number(item.dataset.below ?? 0),
    isFailed: item.dataset.state === "failed",
    text: undefined,
    isFolded: false,
  }];
}

/** Of a long trace this is worked out at the first search only. */
function textOf(row: Row): string {
  row.text ??= (row.details.textContent ?? "").toLowerCase();
  return row.text;
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

for (const root of document.querySelectorAll<HTMLElement>("[data-trace]")) new TraceView(root).start();
