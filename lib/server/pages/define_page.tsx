// A page is a route whose answer is HTML. What keeps it from being made is a page too. Two kinds of pages have one shape: lists of what is
// in the project, and one thing of such a list, with the form that starts it.
import { type JsonSchema, objectOf, onlyFields } from "../../core/core.ts";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { basename } from "node:path";
import type { FromJsonSchema } from "../../schema/input_type.ts";
import type { CatalogJson, CatalogPart, Look, ProblemJson } from "../../service/look/look.ts";
import { html } from "../answers.ts";
import { openAssets } from "./assets.ts";
import { defineRoute, type Nothing, type Route, type RouteContext } from "../route.ts";
import { NAME } from "../api/schemas.ts";
import {
  chosenTheme,
  Layout,
  PageHead,
  type PageHeadParts,
  type PageParts,
  problemPage,
  SECTIONS,
  type SiteSection,
} from "./layout.tsx";
import { type Column, Empty, List, Problems } from "./parts.tsx";
import { StartForm, type StartFormParts } from "./schema_form.tsx";

/** A page while it is being defined. */
export interface PageDefinition<Params, Query> {
  readonly path: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  page(
    context: RouteContext<FromJsonSchema<Params>, FromJsonSchema<Query>>,
  ): PageParts | Promise<PageParts>;
}

/** Defines a page: `GET`, for whoever is let in. */
export function definePage<
  const Params extends JsonSchema = Nothing,
  const Query extends JsonSchema = Nothing,
>({ path, summary, page, ...route }: PageDefinition<Params, Query>): Route {
  return defineRoute<Params, Query>("GET", path, summary, {
    ...route,
    responses: { 200: { description: "The page", type: "text/html; charset=utf-8" } },
    tellProblem: problemPage,
    async handle(context) {
      const { service, request: { headers } } = context;
      const parts = await page(context);
      const frame = {
        assets: (await openAssets()).base,
        project: basename(service.root),
        version: service.version,
        theme: chosenTheme(headers),
        waiting: service.now.waiting,
        active: service.active,
      };
      return await html(<Layout frame={frame} {...parts} />);
    },
  });
}

/** The path of a page about one thing: a name, or a path of files. */
export const PATH_PARAMS = objectOf({ path: NAME }, [
  "path",
]);

/** A table of a list page. */
interface Table {
  readonly isSearched: boolean;
  readonly isEmpty: boolean;
  /** With the rows that a search finds; undefined where there are none. @param heading of the page, which is not said again */
  found(search: string, heading: string): JSX.Element | undefined;
}

/** Makes one. @param text by what a row is found. Default: no search looks at the table */
export function table<Row>(
  label: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  text?: (row: Row) => string,
): Table {
  return {
    isSearched: text !== undefined,
    isEmpty: rows.length === 0,
    found(search, heading) {
      const words = search.toLowerCase().split(/\s+/);
      const found = rows.filter((row) => {
        const lower = text?.(row).toLowerCase();
        return lower === undefined || words.every((word) => lower.includes(word));
      });
      return found.length === 0 ? undefined : (
        <section>
          {label !== heading && <h2>{label}</h2>}
          <List label={label} columns={columns} rows={found} searchText={text} />
        </section>
      );
    },
  };
}

/** What a list page shows. */
interface ListParts {
  readonly lede: string;
  readonly tables: readonly Table[];
  /** What stands in place of the search where nothing can be found. */
  readonly none?: Child;
  readonly problems?: readonly ProblemJson[];
}

/** Defines the page of a part of the project: its tables, and a search through them, which asks the server where no script runs. */
export function listPage(
  section: SiteSection,
  { all = section, one, parts, list }: {
    /** What is on it. Default: the section. */
    readonly all?: string;
    /** What one of them is. */
    readonly one: string;
    readonly parts: readonly CatalogPart[];
    list(catalog: CatalogJson): ListParts;
  },
): Route {
  return definePage({
    path: `/${section}`,
    summary: `The page of all ${all}`,
    query: onlyFields({ q: { type: "string", maxLength: 200 } }),
    async page({ service, query: { q = "" } }) {
      const { lede, tables, none, problems = [] } = list(await service.look.catalog(parts));
      const title = SECTIONS[section];
      const searched = tables.filter(({ isSearched }) => isSearched);
      const isEmpty = searched.every((each) => each.isEmpty);
      const found = searched.flatMap((each) => each.found(q, title) ?? []);
      return {
        title,
        section,
        modules: ["search"],
        children: (
          <>
            <PageHead title={title} lede={lede} />
            {isEmpty ? <Empty>{none}</Empty> : <Search what={section} value={q} />}
            <div class="stack">
              {found}
              {!isEmpty && found.length === 0 && <Empty>No {one} has these words.</Empty>}
              {tables.map((each) => each.isSearched || each.found("", title))}
              <Problems problems={problems} />
            </div>
          </>
        ),
      };
    },
  });
}

function Search({ what, value }: { readonly what: string; readonly value: string }): JSX.Element {
  return (
    <form class="filter" role="search" method="get">
      <div class="field wide">
        <label for="search">Search {what}</label>
        <input id="search" name="q" type="search" value={value} data-search autocomplete="off" />
      </div>
      <button type="submit" data-search-button>Search</button>
      <p class="small soft" role="status" data-search-count></p>
    </form>
  );
}

/** What the page of one thing shows. */
export interface ItemParts extends Omit<PageHeadParts, "crumbs"> {
  /** How it is started, or why it is not. */
  readonly start: StartFormParts | { readonly not: Child; readonly tone: "bad" | "wait" };
  readonly children?: Child;
}

/** Defines the page of one thing of a list: what it is, and beside it the form that starts it. */
export function itemPage(
  section: SiteSection,
  { at = section, of, item }: {
    /** The path above that of the thing. Default: the section. */
    readonly at?: string;
    readonly of: string;
    item(look: Look, path: string): Promise<ItemParts>;
  },
): Route {
  return definePage({
    path: `/${at}/{path+}`,
    summary: `The page of one ${of}`,
    params: PATH_PARAMS,
    async page({ service: { look }, params: { path } }) {
      const { start, children, ...head } = await item(look, path);
      const crumbs = [{ href: `/${section}`, words: SECTIONS[section] }];
      const side = "not" in start
        ? <p class="note" data-tone={start.tone}>{start.not}</p>
        : <StartForm {...start} models={start.model === undefined ? [] : await modelIds(look)} />;
      return {
        title: head.title,
        section,
        modules: ["form"],
        children: (
          <>
            <PageHead {...head} crumbs={crumbs} />
            <div class="two">
              <div class="stack">{children}</div>
              <div class="side first">{side}</div>
            </div>
          </>
        ),
      };
    },
  });
}

/** What can be asked, for a field that names one. */
async function modelIds(look: Look): Promise<readonly string[]> {
  const { models } = await look.catalog(["models"]);
  return models.filter(({ usable }) => usable).map(({ id }) => id);
}
