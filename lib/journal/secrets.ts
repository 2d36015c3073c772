import type { Secrets } from "../core/secrets.ts";
import { maskedJson } from "./masked_json.ts";
import { SecretFinder } from "./secret_finder.ts";

/** A shorter value cannot be told from ordinary text. */
const MIN_LENGTH = 8;

/**
 * Secrets are taken out of text by their values: raw, JSON- and URL-escaped and as one whole base64 value (turn.md 3). Where several
 * overlap, one `[secret NAME]` stands for all of them. Of two names with one value the first is shown.
 */
export function createSecrets(): Secrets {
  const secrets = new Map<string, string>();
  let finder: SecretFinder | undefined;
  const found = (text: string) => secrets.size === 0 ? [] : (finder ??= new SecretFinder(secrets)).find(text);

  function mask(text: string): string {
    let out = "";
    let at = 0;
    for (const { start, end, name } of found(text)) {
      out += text.slice(at, start) + label(name);
      at = end;
    }
    return at === 0 ? text : out + text.slice(at);
  }

  function stream(): ReturnType<Secrets["stream"]> {
    let held = "";
    /** So much of what is held belongs to a secret whose label is out. */
    let covered = 0;

    function give(text: string, until: number): string {
      let out = "";
      let at = covered;
      for (const { start, end, name } of found(text)) {
        if (start >= until) break;
        if (start >= at) out += text.slice(at, start) + label(name);
        at = Math.max(at, end);
      }
      held = text.slice(until);
      covered = Math.max(0, at - until);
      return at < until ? out + text.slice(at, until) : out;
    }

    return {
      push(text) {
        if (secrets.size === 0 && held === "") return text;
        const whole = held + text;
        finder ??= new SecretFinder(secrets);
        return give(whole, finder.openFrom(whole));
      },
      end: () => give(held, held.length),
    };
  }

  return {
    add(name, value) {
      // The blanks around a value come from a file and seldom go where the value goes.
      const kept = value.trim();
      if (kept.length < MIN_LENGTH || secrets.has(kept)) return;
      secrets.set(kept, name);
      finder = undefined;
    },
    mask,
    maskJson: (value) => secrets.size === 0 ? value : maskedJson(value, mask),
    stream,
  };
}

const label = (name: string): string => `[secret ${name}]`;
