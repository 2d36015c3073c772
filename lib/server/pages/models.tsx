import type { JsonObject } from "../../core/core.ts";
import type { ListedModel, Look } from "../../service/look/look.ts";
import { definePage, SEARCH_QUERY } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { Badge, type Column, SearchedList } from "./parts.tsx";

/** `/models`: what can be asked, and what is missing for it. */
export const modelsPage = definePage({
  path: "/models",
  summary: "The page of all models",
  request: { query: SEARCH_QUERY },
  async page({ service, query: { q = "" } }) {
    const { models } = await service.look.catalog(["models"]);
    const ranked = models.toSorted((a, b) => rankOf(a) - rankOf(b));
    const chosen = models.find(({ isDefault }) => isDefault);
    return {
      title: "Models",
      section: "models",
      modules: ["search"],
      children: (
        <>
          <PageHead
            title="Models"
            lede={chosen === undefined
              ? "None is asked by default: set models.default in orrery.yaml, or ORRERY_MODEL."
              : `${chosen.id} is asked where nothing else is said.`}
          />
          <SearchedList of="model" columns={COLUMNS} rows={ranked} searchText={searchText} q={q} />
        </>
      ),
    };
  },
});

/** Those that can be asked come first, before them the one that is. */
function rankOf({ usable, isDefault, kind }: ListedModel): number {
  if (isDefault === true) return 0;
  if (kind === "form") return 3;
  return usable ? 1 : 2;
}

function searchText({ id, provider = "", model = "", about = "" }: ListedModel): string {
  return `${id} ${provider} ${model} ${about}`;
}

const COLUMNS: readonly Column<ListedModel>[] = [
  { head: "Name", kind: "name", cell: ({ id }) => id },
  {
    head: "State",
    kind: "nowrap",
    cell: ({ usable, isDefault, kind }) => (
      <>
        {kind !== "form" && <Badge tone={usable ? "good" : "plain"}>{usable ? "ready" : "not ready"}</Badge>}
        {" "}
        {isDefault === true && <Badge tone="busy">default</Badge>}
      </>
    ),
  },
  {
    head: "About",
    cell: ({ about, model, fallback }) =>
      [
        model === undefined ? "" : `stands for ${model}`,
        about ?? "",
        fallback === undefined ? "" : `then ${fallback.join(", ")}`,
      ]
        .filter((text) => text !== "").join("; "),
  },
  {
    head: "In, out per million",
    kind: "number",
    cell: ({ price }) => price === undefined ? "" : priceText(price),
  },
  { head: "Context", kind: "number", cell: ({ contextTokens }) => contextTokens?.toLocaleString("en-GB") },
];

/** `$2.50, $10` */
function priceText({ input, output }: JsonObject): string {
  return [input, output].filter((each) => typeof each === "number").map((each) => `$${each}`).join(", ");
}

/** What can be asked, for a field that names one. */
export async function modelIds(look: Look): Promise<readonly string[]> {
  const { models } = await look.catalog(["models"]);
  return models.filter(({ usable }) => usable).map(({ id }) => id);
}
