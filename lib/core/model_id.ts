/** A model of a provider. */
export interface ModelId {
  readonly provider: string;
  /** As the provider calls it; may hold `/` and `:`. */
  readonly model: string;
}

/** Reads `provider/model` or `provider:model`, split at the first separator; undefined when it is neither. */
export function maybeModelId(text: string): ModelId | undefined {
  const at = text.search(/[/:]/);
  const [provider, model] = [text.slice(0, at), text.slice(at + 1)];
  return at < 1 || model === "" ? undefined : { provider, model };
}

/** `provider/model` */
export function modelIdText({ provider, model }: ModelId): string {
  return `${provider}/${model}`;
}

/** Every name on the way from an alias to what it stands for, the first one the name itself. */
export interface AliasWay {
  readonly way: readonly string[];
  /** True when the last name stands again for one before it. */
  readonly isCycle: boolean;
}

/** Follows a name through the aliases; a name that is no alias is its own end. */
export function followAliases(name: string, aliases: Readonly<Record<string, string>>): AliasWay {
  const way = [name];
  for (let here = name; Object.hasOwn(aliases, here);) {
    here = aliases[here] ?? here;
    const isCycle = way.includes(here);
    way.push(here);
    if (isCycle) return { way, isCycle };
  }
  return { way, isCycle: false };
}
