import type { ModelList } from "../../models/model_list.ts";
import { objectOf } from "./gadget_data.ts";
import type { ListedModel } from "./look.ts";

/** What can be asked, aliases first, and what is missing for the rest. @param chosen the one that is asked when nothing else is said */
export function modelData(list: ModelList, chosen: string | undefined): readonly ListedModel[] {
  const { aliases, known, offline } = list;
  const isDefault = (id: string) => id === chosen ? { isDefault: true } : {};
  return [
    ...aliases.map(({ name, id, fallback }): ListedModel => ({
      id: name,
      kind: "alias",
      ...usableData(id, list),
      model: id,
      ...(fallback.length === 0 ? {} : { fallback: [...fallback] }),
      ...isDefault(name),
    })),
    ...known.map(({ id, price, contextTokens }): ListedModel => ({
      id,
      kind: "model",
      ...usableData(id, list),
      price: objectOf(price),
      contextTokens,
      ...isDefault(id),
    })),
    ...chosenAlone(list, chosen),
    ...offline.map(({ id, about }): ListedModel => ({
      id,
      kind: id.endsWith("FILE") ? "form" : "offline",
      usable: !id.endsWith("FILE"),
      about,
      ...isDefault(id),
    })),
  ];
}

/** The chosen one, where it is in no list: a model without a price. */
function chosenAlone(list: ModelList, chosen: string | undefined): readonly ListedModel[] {
  const ids = [
    ...list.aliases.map(({ name }) => name),
    ...list.known.map(({ id }) => id),
    ...list.offline.map(({ id }) => id),
  ];
  if (chosen === undefined || ids.includes(chosen)) return [];
  return [{ id: chosen, kind: "model", ...usableData(chosen, list), isDefault: true }];
}

/** Whether the provider of `provider/model` can be asked, and what is missing. */
function usableData(
  id: string,
  { providers, offline }: ModelList,
): Pick<ListedModel, "usable" | "provider" | "about"> {
  const name = id.slice(0, Math.max(0, id.indexOf("/")));
  if (offline.some((each) => each.id.startsWith(`${name}/`))) return { usable: true, provider: name };
  const provider = providers.find((each) => each.name === name);
  if (provider === undefined) return { usable: false, about: "there is no such provider" };
  const { keyVariables, hasKey } = provider;
  if (hasKey || keyVariables.length === 0) return { usable: true, provider: name };
  return { usable: false, provider: name, about: `no key: set ${keyVariables.join(" or ")}` };
}
