import type { JSX } from "hono/jsx/jsx-runtime";
import { isRecord, type Json } from "../../core/core.ts";
import type {
  DocumentPageJson,
  ListedCalls,
  ListedDocument,
  NeedJson,
  UsedJson,
} from "../../service/look/look.ts";
import { itemPage, listPage, table } from "./define_page.tsx";
import { Graph } from "./graph.tsx";
import { counted } from "../../render/run_tally.ts";
import { Badge, type Column, Facts, href, Problems, Source } from "./parts.tsx";
import { NO_INPUT } from "./schema_form.tsx";

/** `/documents`: executable Markdown, and files of calls. */
export const documentsPage = listPage("documents", {
  all: "documents and call files",
  one: "file",
  parts: ["documents", "calls"],
  list: ({ documents, calls }) => ({
    lede:
      "Markdown whose operations ask models, run commands and fill in what they give; and files of calls, run as a graph.",
    none: (
      <>
        <p>The project has no documents.</p>
        <p>
          They are Markdown files (<code>.md</code>) with an operation such as <code>@llm</code> or{" "}
          <code>@shell</code> between their headings; files of calls end with <code>.calls</code>.
        </p>
      </>
    ),
    tables: [
      table(
        "Documents",
        DOCUMENTS,
        documents,
        ({ file, title, description }) => `${file} ${title ?? ""} ${description ?? ""}`,
      ),
      table("Call files", CALLS, calls, ({ file }) => file),
    ],
  }),
});

const DOCUMENTS: readonly Column<ListedDocument>[] = [
  ["File", ({ file }) => <a href={href("/documents", file)}>{file}</a>, "name"],
  ["Title", ({ title, description }) => title ?? description],
  ["Inputs", ({ inputs }) => inputs.map(({ name }) => name).join(", "), "name"],
  ["Operations", ({ operations }) => operations, "number"],
];

const CALLS: readonly Column<ListedCalls>[] = [
  ["File", ({ file }) => <a href={href("/calls", file)}>{file}</a>, "name"],
];

/** `/documents/PATH`: its outline, inputs and source, and a form to run it. */
export const documentPage = itemPage("documents", {
  of: "document",
  async item(look, path) {
    const document = await look.document(path);
    const { file, title, description, input, operationList, problems, source } = document;
    return {
      title: title ?? file,
      code: title === null,
      lede: description,
      tags: (
        <>
          <code>{file}</code> <span>{counted(operationList.length, "operation")}</span>
        </>
      ),
      start: {
        kind: "file",
        name: file,
        schema: input,
        say: ["Prompt", "Put before the first block of the document, as --prompt does."],
        model: "Empty: that of the document, or of the project",
      },
      children: (
        <>
          <Problems problems={problems} here />
          <DocumentUses document={document} />
          <Outline document={document} />
          <SourceSection file={file} text={source} problems={problems} kindOf={kindOfLine} />
        </>
      ),
    };
  },
});

/** `/calls/PATH`: a file of calls, its graph, and a button to run it. */
export const callsPage = itemPage("documents", {
  at: "calls",
  of: "call file",
  async item(look, path) {
    const { problems } = await look.graph(path); // tells what is no call file
    const text = await look.source(path);
    const kindOf = (line: string) => /^!!!\w*_(START|END)\b/.test(line) ? "operation" : undefined;
    return {
      title: path,
      code: true,
      start: { kind: "file", name: path, schema: NO_INPUT, model: "For prompts that name none" },
      children: (
        <>
          <Problems problems={problems} here />
          <SourceSection {...{ file: path, text, problems, kindOf }} />
        </>
      ),
    };
  },
});

function SourceSection(
  { file, ...source }: { readonly file: string } & Omit<Parameters<typeof Source>[0], "label">,
): JSX.Element {
  return (
    <>
      <section>
        <h2>Source</h2>
        <Source label={`The source of ${file}`} {...source} />
      </section>
      <Graph file={file} />
    </>
  );
}

/** Of a line alone: inside a fence it may be none. */
function kindOfLine(line: string): "heading" | "operation" | undefined {
  if (/^#{1,6} /.test(line)) return "heading";
  return /^@[a-z]+\s*$/.test(line) ? "operation" : undefined;
}

function DocumentUses(
  { document: { needs, models, tools, imports, runs } }: { readonly document: DocumentPageJson },
): JSX.Element {
  const used = (things: readonly UsedJson[]) => things.length > 0 && <Used things={things} />;
  return (
    <section class="panel">
      <Facts
        of={[
          ["Needs", needs.length === 0 ? "nothing beyond what every run may do" : <Needs needs={needs} />],
          ["Models", used(models)],
          ["Tools", used(tools)],
          ["Imports", used(imports)],
          ["Runs", used(runs)],
        ]}
      />
    </section>
  );
}

const MOST_LINES = 5;

/** Only a model may have no name. */
function Used({ things }: { readonly things: readonly UsedJson[] }): JSX.Element {
  return (
    <>
      {things.map(({ name, lines }, index) => (
        <>
          {index > 0 && ", "}
          {name === "" ? "that of the project" : <code>{name}</code>} <Lines lines={lines} />
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

const STATES: { readonly [state in NeedJson["state"]]: JSX.Element } = {
  granted: <Badge tone="good">granted here</Badge>,
  asked: <Badge tone="wait">asked about</Badge>,
  refused: <Badge tone="bad">not granted here</Badge>,
};

/** Whoever reads it did not start this server: what it may do here comes first, and then who could change that. */
function Needs({ needs }: { readonly needs: readonly NeedJson[] }): JSX.Element {
  return (
    <ul class="needs">
      {needs.map((need) => (
        <li>
          <DoneThere need={need} /> <Lines lines={need.lines} /> {STATES[need.state]}
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

/** What is done there, and to what where nothing is named. */
const DONE: { readonly [kind in NeedJson["kind"]]: readonly [what: string, unnamed: string] } = {
  run: ["to run commands with", "a shell"],
  read: ["to read", "files"],
  write: ["to write", "files"],
  net: ["to connect to", "other machines"],
};

function DoneThere({ need: { kind, of } }: { readonly need: NeedJson }): JSX.Element {
  const [what, unnamed] = DONE[kind];
  return <>{what} {of === null ? unnamed : <code>{of}</code>}</>;
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
