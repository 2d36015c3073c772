import type { JSX } from "hono/jsx/jsx-runtime";
import { isRecord, type Json } from "../../core/core.ts";
import type {
  DocumentPageJson,
  ListedCalls,
  ListedDocument,
  NeedJson,
  UsedJson,
} from "../../service/look/look.ts";
import { definePage, PATH_PARAMS, SEARCH_QUERY } from "./define_page.tsx";
import { Graph } from "./graph.tsx";
import { PageHead } from "./layout.tsx";
import { modelIds } from "./models.tsx";
import {
  Badge,
  type Column,
  counted,
  Empty,
  Facts,
  href,
  isFound,
  List,
  Problems,
  Search,
  Source,
  Two,
} from "./parts.tsx";
import { AskField, ModelField, SayField, StartForm } from "./schema_form.tsx";

/** `/documents`: executable Markdown, and files of calls. */
export const documentsPage = definePage({
  path: "/documents",
  summary: "The page of all documents and call files",
  request: { query: SEARCH_QUERY },
  async page({ service, query: { q = "" } }) {
    const { documents, calls } = await service.look.catalog(["documents", "calls"]);
    const found = documents.filter((document) => isFound(searchText(document), q));
    const files = calls.filter(({ file }) => isFound(file, q));
    return {
      title: "Documents",
      section: "documents",
      modules: ["search"],
      children: (
        <>
          <PageHead
            title="Documents"
            lede="Markdown whose operations ask models, run commands and fill in what they give; and files of calls, run as a graph."
          />
          {documents.length + calls.length === 0 ? <Nothing /> : <Search what="documents" value={q} />}
          <div class="stack">
            {found.length > 0 && (
              <List label="Documents" columns={DOCUMENTS} rows={found} searchText={searchText} />
            )}
            {files.length > 0 && (
              <section>
                <h2>Call files</h2>
                <List label="Call files" columns={CALLS} rows={files} searchText={({ file }) => file} />
              </section>
            )}
            {q !== "" && found.length + files.length === 0 && <Empty>No file has these words.</Empty>}
          </div>
        </>
      ),
    };
  },
});

function Nothing(): JSX.Element {
  return (
    <Empty>
      <p>The project has no documents.</p>
      <p>
        They are Markdown files (<code>.md</code>) with an operation such as <code>@llm</code> or{" "}
        <code>@shell</code> between their headings; files of calls end with <code>.calls</code>.
      </p>
    </Empty>
  );
}

function searchText({ file, title, description }: ListedDocument): string {
  return `${file} ${title ?? ""} ${description ?? ""}`;
}

const DOCUMENTS: readonly Column<ListedDocument>[] = [
  { head: "File", kind: "name", cell: ({ file }) => <a href={href("/documents", file)}>{file}</a> },
  { head: "Title", cell: ({ title, description }) => title ?? description },
  { head: "Inputs", kind: "name", cell: ({ inputs }) => inputs.map(({ name }) => name).join(", ") },
  { head: "Operations", kind: "number", cell: ({ operations }) => operations },
];

const CALLS: readonly Column<ListedCalls>[] = [
  { head: "File", kind: "name", cell: ({ file }) => <a href={href("/calls", file)}>{file}</a> },
];

/** `/documents/PATH`: its outline, inputs and source, and a form to run it. */
export const documentPage = definePage({
  path: "/documents/{path+}",
  summary: "The page of one document",
  request: { params: PATH_PARAMS },
  async page({ service, params: { path } }) {
    const document = await service.look.document(path);
    const { file, title, description, input, operationList, problems, source } = document;
    return {
      title: title ?? file,
      section: "documents",
      modules: ["form"],
      children: (
        <>
          <PageHead
            title={title ?? file}
            code={title === null}
            crumbs={[{ href: "/documents", words: "Documents" }]}
            lede={description}
            tags={
              <>
                <code>{file}</code> <span>{counted(operationList.length, "operation")}</span>
              </>
            }
          />
          <Two
            side={
              <StartForm kind="file" name={file} schema={input} title="Run it" button="Run">
                <SayField
                  name="say"
                  label="Prompt"
                  hint="Put before the first block of the document, as --prompt does."
                />
                <ModelField
                  models={await modelIds(service.look)}
                  hint="Empty: that of the document, or of the project"
                />
                <AskField />
              </StartForm>
            }
          >
            <Problems problems={problems} here />
            <DocumentUses document={document} />
            <Outline document={document} />
            <section>
              <h2>Source</h2>
              <Source
                text={source}
                label={`The source of ${file}`}
                problems={problems}
                kindOf={kindOfLine}
              />
            </section>
            <Graph file={file} />
          </Two>
        </>
      ),
    };
  },
});

/** Of a line alone: inside a fence it may be none. */
function kindOfLine(line: string): "heading" | "operation" | undefined {
  if (/^#{1,6} /.test(line)) return "heading";
  return /^@[a-z]+\s*$/.test(line) ? "operation" : undefined;
}

function DocumentUses({ document }: { readonly document: DocumentPageJson }): JSX.Element {
  const { needs, models, tools, imports, runs } = document;
  return (
    <section class="panel">
      <Facts
        of={[
          ["Needs", needs.length === 0 ? "nothing beyond what every run may do" : <Needs needs={needs} />],
          [
            "Models",
            models.length === 0 ? undefined : <Used things={models} unnamed="that of the project" />,
          ],
          ["Tools", tools.length === 0 ? undefined : <Used things={tools} />],
          ["Imports", imports.length === 0 ? undefined : <Used things={imports} />],
          ["Runs", runs.length === 0 ? undefined : <Used things={runs} />],
        ]}
      />
    </section>
  );
}

const MOST_LINES = 5;

function Used({ things, unnamed = "" }: {
  readonly things: readonly UsedJson[];
  readonly unnamed?: string;
}): JSX.Element {
  return (
    <>
      {things.map(({ name, lines }, index) => (
        <>
          {index > 0 && ", "}
          {name === "" ? unnamed : <code>{name}</code>} <Lines lines={lines} />
        </>
      ))}
    </>
  );
}

function Lines({ lines }: { readonly lines: readonly number[] }): JSX.Element {
  return (
    <span class="soft">
      (line {lines.slice(0, MOST_LINES).map((line, at) => (
        <>
          {at > 0 && ", "}
          <a href={`#L${line}`}>{line}</a>
        </>
      ))}
      {lines.length > MOST_LINES && ", …"})
    </span>
  );
}

function StateBadge({ state }: Pick<NeedJson, "state">): JSX.Element {
  switch (state) {
    case "granted":
      return <Badge tone="good">granted here</Badge>;
    case "asked":
      return <Badge tone="wait">asked about</Badge>;
    case "refused":
      return <Badge tone="bad">not granted here</Badge>;
    default:
      return state satisfies never;
  }
}

/** Whoever reads it did not start this server: what it may do here comes first, and then who could change that. */
function Needs({ needs }: { readonly needs: readonly NeedJson[] }): JSX.Element {
  return (
    <ul class="needs">
      {needs.map((need) => (
        <li>
          <DoneThere need={need} /> <Lines lines={need.lines} /> <StateBadge state={need.state} />
          {need.state !== "granted" && (
            <p class="soft">
              <Granting need={need} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function DoneThere({ need: { kind, of } }: { readonly need: NeedJson }): JSX.Element {
  const named = of === null ? undefined : <code>{of}</code>;
  switch (kind) {
    case "run":
      return <>to run commands with {named ?? "a shell"}</>;
    case "read":
      return <>to read {named ?? "files"}</>;
    case "write":
      return <>to write {named ?? "files"}</>;
    case "net":
      return <>to connect to {named ?? "other machines"}</>;
    default:
      return kind satisfies never;
  }
}

/** What would have to be done, by somebody else: a flag of the server, or words about the settings. */
function Granting({ need: { state, kind, grant } }: { readonly need: NeedJson }): JSX.Element {
  if (!grant.startsWith("--")) return <>No run of it begins here: {grant}.</>;
  if (state === "asked") {
    return (
      <>
        A run that may ask you asks before it does so; whoever starts this server can allow it with{" "}
        <code>{grant}</code>.
      </>
    );
  }
  return (
    <>
      No run of it begins here: whoever starts this server decides that, with <code>{grant}</code> and{" "}
      <code>--deny-{kind}</code>.
    </>
  );
}

type OutlineRow = {
  readonly line: number;
  readonly depth: number;
  readonly block?: DocumentPageJson["blocks"][number];
  readonly operation?: DocumentPageJson["operationList"][number];
};

/** Headings and operations, in the order of the file. */
function Outline(
  { document: { blocks, operationList } }: { readonly document: DocumentPageJson },
): JSX.Element {
  const least = Math.min(...blocks.map(({ level }) => level));
  const rows: readonly OutlineRow[] = [
    ...blocks.map((block) => ({ line: block.line, depth: block.level - least, block })),
    ...operationList.map((operation) => ({
      line: operation.line,
      depth: depthBelow(operation.section, blocks, least),
      operation,
    })),
  ].sort((a, b) => a.line - b.line);
  return (
    <section>
      <h2>Outline</h2>
      <ul class="outline panel">
        {rows.map(({ line, depth, block, operation }) => (
          <li data-depth={Math.min(depth, 4)}>
            {block !== undefined && (
              <>
                <a href={`#L${line}`}>{block.title.replace(ID, "")}</a> <code class="soft">{block.id}</code>
              </>
            )}
            {operation !== undefined && (
              <>
                <a class="code" href={`#L${line}`}>@{operation.name}</a>{" "}
                <span class="soft code">{parameterWords(operation.parameters)}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function depthBelow(
  section: string | null,
  blocks: DocumentPageJson["blocks"],
  least: number,
): number {
  const above = blocks.find(({ id }) => id === section);
  return above === undefined ? 0 : above.level - least + 1;
}

/** It is shown beside the title. */
const ID = /\s*\{id=[^}]*\}\s*$/;

const MOST_WORDS = 110;

function parameterWords(parameters: Readonly<Record<string, Json>>): string {
  const text = Object.entries(parameters).map(([key, value]) => `${key}: ${valueWords(value)}`).join(", ");
  return text.length <= MOST_WORDS ? text : `${text.slice(0, MOST_WORDS)}…`;
}

function valueWords(value: Json): string {
  if (typeof value === "string") return value.trim().replaceAll(/\s+/g, " ");
  if (Array.isArray(value)) return value.map(valueWords).join(", ");
  return isRecord(value) ? JSON.stringify(value) : String(value);
}
