// What every page has around it. Pages are whole before any script runs: the modules of lib/browser add to them.
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { RunState } from "../../service/service.ts";
import { PAGE_POLICY, seeOther, text } from "../answers.ts";
import { type ProblemDetails, titleOf } from "../problem.ts";
import { assetsNow } from "./assets.ts";
import { href, Sentence } from "./parts.tsx";

/** The parts of the site, as the rail names them. */
export const SECTIONS = {
  overview: "Overview",
  agents: "Agents",
  documents: "Documents",
  prompts: "Prompts",
  gadgets: "Gadgets",
  models: "Models",
  runs: "Runs",
  asks: "Questions",
  docs: "HTTP API",
} as const;

/** A part of the site. */
export type SiteSection = keyof typeof SECTIONS;

/** What a page knows besides what it is about. */
export interface PageFrame {
  /** Where the assets are: `/assets/HASH`. */
  readonly assets: string;
  /** The name of the project's folder. */
  readonly project: string;
  readonly version: string;
  /** As the reader has chosen; undefined follows the system. */
  readonly theme: "light" | "dark" | undefined;
  /** Runs that wait for a person. */
  readonly waiting: readonly RunState[];
  /** Runs under way. */
  readonly active: number;
}

/** What a page is. */
export interface PageParts {
  /** Of the window; `Orrery` is put behind it. */
  readonly title: string;
  readonly section?: SiteSection;
  /** Modules of `lib/browser` that it needs, such as `form`. */
  readonly modules?: readonly string[];
  /** The run whose questions stand on it; `all`: those of all runs. */
  readonly asksOf?: string;
  readonly children?: Child;
}

/** A whole page, from `<html>` on. */
export function Layout({ frame, ...parts }: PageParts & { readonly frame: PageFrame }): JSX.Element {
  const { title, section, modules = [], asksOf, children } = parts;
  const elsewhere = asksOf === "all" ? [] : frame.waiting.filter(({ id }) => id !== asksOf);
  return (
    <html lang="en" data-theme={frame.theme}>
      <Head
        {...{ title, frame }}
        modules={["theme", "keys", "live", ...modules]}
        count={askCount(frame.waiting)}
      />
      <body data-asks-of={asksOf}>
        <a class="skip" href="#main">Skip to the content</a>
        <div class="frame">
          <Rail frame={frame} section={section} />
          <main id="main" tabindex={-1}>
            <p class="note" data-tone="wait" role="status" data-run-lost hidden></p>
            <p class="note" data-tone="wait" role="status" data-waiting hidden={elsewhere.length === 0}>
              <Waiting runs={elsewhere} />
            </p>
            {children}
          </main>
        </div>
      </body>
    </html>
  );
}

function askCount(waiting: readonly RunState[]): number {
  return waiting.reduce((sum, { asks }) => sum + asks.length, 0);
}

/** As the module `live` writes it. */
function Waiting({ runs }: { readonly runs: readonly RunState[] }): JSX.Element {
  const [first] = runs;
  const count = askCount(runs);
  if (first === undefined || count > 1) {
    return (
      <>
        {count} questions wait: <a href="/asks">answer them</a>
      </>
    );
  }
  const { id, kind, asks } = first;
  return (
    <>
      A question waits:{" "}
      <a href={href(kind === "conversation" ? "/conversations" : "/runs", id)}>{asks[0]?.question}</a>
    </>
  );
}

/** A page without the rail, for whoever is not let in yet. */
export function LonePage({ frame, title, modules = [], children }: PageParts & {
  readonly frame: Pick<PageFrame, "assets" | "theme">;
}): JSX.Element {
  return (
    <html lang="en" data-theme={frame.theme}>
      <Head {...{ title, frame, modules }} />
      <body class="alone">
        <main id="main">
          <p class="brand">
            <Brand /> Orrery
          </p>
          {children}
        </main>
      </body>
    </html>
  );
}

function Head({ title, frame: { assets }, modules, count = 0 }: {
  readonly title: string;
  /** Of the questions that wait. */
  readonly count?: number;
  readonly frame: Pick<PageFrame, "assets">;
  readonly modules: readonly string[];
}): JSX.Element {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{`${count > 0 ? `(${count}) ` : ""}${title === "" ? "Orrery" : `${title} · Orrery`}`}</title>
      <link rel="icon" href={`${assets}/lib/browser/icon.svg`} type="image/svg+xml" />
      <link rel="stylesheet" href={`${assets}/lib/browser/page.css`} />
      {modules.map((name) => <script type="module" src={`${assets}/lib/browser/${name}.ts`}></script>)}
    </head>
  );
}

const GROUPS: readonly (readonly SiteSection[])[] = [
  ["overview", "agents", "documents", "prompts", "gadgets", "models"],
  ["runs", "asks"],
  ["docs"],
];

function Rail({ frame, section }: {
  readonly frame: PageFrame;
  readonly section: SiteSection | undefined;
}): JSX.Element {
  return (
    <header class="rail">
      <a class="brand" href="/">
        <Brand />
        <span>Orrery</span>
      </a>
      <p class="project" title={frame.project}>{frame.project}</p>
      <div class="rail-end">
        <span class="version">{frame.version}</span>
        <button
          type="button"
          class="quiet"
          data-notify
          hidden
          title="Tell me of questions while I look elsewhere"
        >
          Notify
        </button>
        <button type="button" class="quiet" data-theme-button hidden>Theme</button>
        <button type="button" class="quiet" data-keys hidden aria-keyshortcuts="?">Keys</button>
      </div>
      <nav aria-label="Site">
        {GROUPS.map((group) => (
          <ul>
            {group.map((each) => (
              <li>
                <a
                  href={each === "overview" ? "/" : `/${each}`}
                  aria-current={each === section ? "page" : undefined}
                >
                  {SECTIONS[each]}
                  <Count section={each} frame={frame} />
                </a>
              </li>
            ))}
          </ul>
        ))}
      </nav>
    </header>
  );
}

function Count({ section, frame: { waiting, active } }: {
  readonly section: SiteSection;
  readonly frame: PageFrame;
}): JSX.Element | null {
  if (section === "asks") {
    const asks = askCount(waiting);
    return (
      <span class="count open" hidden={asks === 0}>
        <span data-count="asks">{asks}</span> <span class="unseen">open</span>
      </span>
    );
  }
  if (section !== "runs") return null;
  return (
    <span class="count" hidden={active === 0}>
      <span data-count="active">{active}</span> running
    </span>
  );
}

/** The head of a page. */
export interface PageHeadParts {
  readonly title: string;
  /** Whether the title is a name or a path, as it is typed. */
  readonly code?: boolean;
  readonly crumbs?: readonly { readonly href: string; readonly words: string }[];
  readonly lede?: string | null;
  readonly tags?: Child;
  readonly actions?: Child;
}

/** The head of a page: where it is, what it is, what can be done. */
export function PageHead(
  { title, code = false, crumbs = [], lede, tags, actions }: PageHeadParts,
): JSX.Element {
  return (
    <header class="page-head">
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label="Above">
          {crumbs.map(({ href, words }) => (
            <>
              <a href={href}>{words}</a>
              {" / "}
            </>
          ))}
        </nav>
      )}
      <h1>{code ? <span class="code">{title}</span> : title}</h1>
      {actions !== undefined && <div class="actions">{actions}</div>}
      {lede !== undefined && lede !== null && lede !== "" && (
        <p class="lede">
          <Sentence text={lede} />
        </p>
      )}
      {tags !== undefined && <div class="tags">{tags}</div>}
    </header>
  );
}

/** The sign of Orrery: a planet on its way around. */
function Brand(): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
      <circle cx="12" cy="12" r="2.6" fill="currentColor" stroke="none" />
      <ellipse cx="12" cy="12" rx="10.2" ry="5.2" transform="rotate(-24 12 12)" />
      <circle cx="21.2" cy="7.6" r="1.7" fill="currentColor" stroke="none" />
      <circle cx="12" cy="12" r="6" stroke-dasharray="1.2 2.2" />
      <circle cx="7.8" cy="16.3" r="1.3" fill="currentColor" stroke="none" />
    </svg>
  );
}

/** Light or dark as the module `theme` has kept it; undefined where nobody has chosen. */
export function chosenTheme(headers: Pick<Headers, "get">): PageFrame["theme"] {
  const [, theme] = /(?:^|;\s*)orrery_theme=(light|dark)(?:;|$)/.exec(headers.get("cookie") ?? "") ?? [];
  return theme === "light" || theme === "dark" ? theme : undefined;
}

/** What kept a page from being made, as a page; who is not let in yet is asked for the token. @param headers of the request */
export function problemPage(problem: ProblemDetails, headers: Pick<Headers, "get">): Response {
  if (problem.status === 401) return seeOther("/login");
  return text(`<!DOCTYPE html>\n${<ProblemPage problem={problem} theme={chosenTheme(headers)} />}`, {
    status: problem.status,
    type: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY, ...problem.headers },
  });
}

function ProblemPage(
  { problem: { status, code, detail }, theme }: {
    readonly problem: ProblemDetails;
    readonly theme: PageFrame["theme"];
  },
): JSX.Element {
  return (
    <LonePage frame={{ assets: assetsNow(), theme }} title={titleOf(status)}>
      <h1>{titleOf(status)}</h1>
      <p class="note" data-tone="bad">{detail}</p>
      <p class="small soft">
        {status} <code>{code}</code>
      </p>
      <p>
        <a class="button" href="/">To the overview</a>
      </p>
    </LonePage>
  );
}
