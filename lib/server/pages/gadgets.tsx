import type { JSX } from "hono/jsx/jsx-runtime";
import type { Json } from "../../core/core.ts";
import type { GadgetJson } from "../../service/look/look.ts";
import { definePage, PATH_PARAMS, SEARCH_QUERY } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import {
  Badge,
  Block,
  type Column,
  Facts,
  href,
  jsonText,
  SearchedList,
  Sentence,
  type Tone,
  Two,
} from "./parts.tsx";
import { AskField, StartForm } from "./schema_form.tsx";

/** `/gadgets`: what calls and models can use. */
export const gadgetsPage = definePage({
  path: "/gadgets",
  summary: "The page of all gadgets",
  request: { query: SEARCH_QUERY },
  async page({ service, query: { q = "" } }) {
    const { gadgets } = await service.look.catalog(["gadgets"]);
    return {
      title: "Gadgets",
      section: "gadgets",
      modules: ["search"],
      children: (
        <>
          <PageHead
            title="Gadgets"
            lede="What calls, prompts and agents can use. A gadget can do what its manifest says and you have granted, and nothing else."
          />
          <SearchedList of="gadget" columns={COLUMNS} rows={gadgets} searchText={searchText} q={q} />
        </>
      ),
    };
  },
});

function searchText({ name, description, source }: GadgetJson): string {
  return `${name} ${description} ${sourceWords(source)}`;
}

const COLUMNS: readonly Column<GadgetJson>[] = [
  { head: "Name", kind: "name", cell: ({ name }) => <a href={href("/gadgets", name)}>{name}</a> },
  {
    head: "What it does",
    cell: ({ description, problem = "" }) => <Sentence text={firstSentence(description) || problem} />,
  },
  { head: "Needs", kind: "name", cell: ({ permissions }) => permissionWords(permissions) },
  { head: "From", kind: "nowrap", cell: ({ source }) => sourceWords(source) },
  { head: "State", kind: "nowrap", cell: (gadget) => <GadgetState gadget={gadget} /> },
];

/** `/gadgets/NAME`: its schema, its permissions, and a form to call it. */
export const gadgetPage = definePage({
  path: "/gadgets/{path+}",
  summary: "The page of one gadget",
  request: { params: PATH_PARAMS },
  async page({ service, params: { path } }) {
    const gadget = await service.look.gadget(path);
    const { name, description, input, output, examples, state } = gadget;
    return {
      title: name,
      section: "gadgets",
      modules: ["form"],
      children: (
        <>
          <PageHead
            title={name}
            code
            crumbs={[{ href: "/gadgets", words: "Gadgets" }]}
            lede={description}
            tags={<GadgetState gadget={gadget} />}
          />
          <Two
            side={state !== "ready"
              ? <p class="note" data-tone="wait">{gadget.problem}</p>
              : gadget.grant?.state === "open"
              ? (
                <p class="note" data-tone="wait">
                  No call of it runs here: whoever starts this server allows it, as it is now, with{" "}
                  <code>orrery trust allow {name}</code>, or by a grant in <code>orrery.yaml</code>.
                </p>
              )
              : (
                <StartForm kind="gadget" name={name} schema={input} title="Call it" button="Call">
                  <AskField />
                </StartForm>
              )}
          >
            <GadgetFacts gadget={gadget} />
            {input !== undefined && (
              <details class="fold">
                <summary>Schema of the input</summary>
                <Block label="The schema of the input" text={jsonText(input)} />
              </details>
            )}
            {output !== undefined && (
              <details class="fold">
                <summary>Schema of the output</summary>
                <Block label="The schema of the output" text={jsonText(output)} />
              </details>
            )}
            {examples.length > 0 && (
              <section>
                <h2>Examples</h2>
                <div class="stack">
                  {examples.map((example, index) => (
                    <Block label={`Example ${index + 1}`} text={jsonText(example)} wrap={false} />
                  ))}
                </div>
              </section>
            )}
          </Two>
        </>
      ),
    };
  },
});

function GadgetFacts({ gadget }: { readonly gadget: GadgetJson }): JSX.Element {
  const { source, permissions, timeoutMs, grant, said } = gadget;
  return (
    <section class="panel">
      <Facts
        of={[
          ["From", sourceWords(source)],
          ["Needs", permissionWords(permissions)],
          ["Granted", grant && [grant.state === "open" ? "not yet" : grant.state, ...grant.from].join(", ")],
          ["May", grant?.permissions && permissionWords(grant.permissions)],
          ["Changed since", grant && grant.changes.length > 0 ? grant.changes.join("; ") : undefined],
          ["Time limit", timeoutMs === undefined ? undefined : `${timeoutMs / 1000} s`],
          ["Its module said", said],
        ]}
      />
    </section>
  );
}

function GadgetState({ gadget: { state, grant } }: { readonly gadget: GadgetJson }): JSX.Element {
  const [tone, words] = STATES[state];
  return (
    <>
      <Badge tone={tone}>{words}</Badge>{" "}
      {grant?.state === "open" && <Badge tone="wait">not allowed here</Badge>}
    </>
  );
}

const STATES: { readonly [state in GadgetJson["state"]]: readonly [Tone, string] } = {
  "ready": ["good", "ready"],
  "not-trusted": ["wait", "not trusted"],
  "broken": ["bad", "broken"],
};

function sourceWords({ kind, file, server }: GadgetJson["source"]): string {
  if (server !== undefined) return `server ${server}`;
  return kind === "built-in" ? "built in" : file ?? kind;
}

/** `net example.com, run` */
export function permissionWords(permissions: Readonly<Record<string, Json>>): string {
  const words = Object.entries(permissions).map(([kind, value]) =>
    Array.isArray(value) && value.length > 0 ? `${kind} ${value.join(" ")}` : kind
  );
  return words.join(", ") || "nothing";
}

/** The first sentence of a description, for a list. */
export function firstSentence(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
}
