/** Knows what must not be seen, and takes it out of text before it is kept, shown or sent on. */
export interface Secrets {
  /** Shorter than 8 characters: not a secret that could be told from ordinary text; ignored. */
  add(name: string, value: string): void;
  /** The text with each secret, in every form of turn.md 3, replaced by `[secret NAME]`. The same string when there is none. */
  mask(text: string): string;
  /** The same for every string in a JSON value, keys too. The same value when there is none. */
  maskJson<T>(value: T): T;
  /** For text in pieces: holds back what may be the beginning of a secret. */
  stream(): { push(text: string): string; end(): string };
}
