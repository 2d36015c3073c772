import type { JSX } from "hono/jsx/jsx-runtime";
import type { Json, JsonObject } from "../../core/core.ts";
import type { GadgetJson, ListedModel } from "../../service/look/look.ts";
import { itemPage, listPage, table } from "./define_page.tsx";
import { Badge, Block, type Column, Facts, href, jsonText, Sentence, type Tone } from "./parts.tsx";

/** `/gadgets`: what calls and models can use. */
export const gadgetsPage = listPage("gadgets", {
  one: "gadget",
  parts: ["gadgets"],
  list: ({ gadgets }) => ({
    lede:
      "What calls, prompts and agents can use. A gadget can do what its manifest says and you have granted, and nothing else.",
    tables: [
      table(
        "Gadgets",
        COLUMNS,
        gadgets,
        ({ name, description, source }) => `${name} ${description} ${sourceWords(source)}`,
      ),
    ],
  }),
});

const COLUMNS: readonly Column<GadgetJson>[] = [
  ["Name", ({ name }) => <a href={href("/gadgets", name)}>{name}</a>, "name"],
  [
    "What it does",
    ({ description, problem = "" }) => <Sentence text={firstSentence(description) || problem} />,
  ],
  ["Needs", ({ permissions }) => permissionWords(permissions), "name"],
  ["From", ({ source }) => sourceWords(source), "nowrap"],
  ["State", (gadget) => <GadgetState gadget={gadget} />, "nowrap"],
];

/** `/gadgets/NAME`: its schema, its permissions, and a form to call it. */
export const gadgetPage = itemPage("gadgets", {
  of: "gadget",
  async item(look, path) {
    const gadget = await look.gadget(path);
    const { name, description, input, output, examples, state, grant, problem } = gadget;
    return {
      title: name,
      code: true,
      lede: description,
      tags: <GadgetState gadget={gadget} />,
      start: state !== "ready"
        ? { tone: "wait", not: problem }
        : grant?.state !== "open"
        ? { kind: "gadget", name, schema: input, title: "Call it", button: "Call" }
        : {
          tone: "wait",
          not: (
            <>
              No call of it runs here: whoever starts this server allows it, as it is now, with{" "}
              <code>orrery trust allow {name}</code>, or by a grant in <code>orrery.yaml</code>.
            </>
          ),
        },
      children: (
        <>
          <GadgetFacts gadget={gadget} />
          <Schema of="input" schema={input} />
          <Schema of="output" schema={output} />
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
        </>
      ),
    };
  },
});

function Schema(
  { of, schema }: { readonly of: string; readonly schema: JsonObject | undefined },
): JSX.Element | null {
  return schema === undefined ? null : (
    <details class="fold">
      <summary>Schema of the {of}</summary>
      <Block label={`The schema of the ${of}`} text={jsonText(schema)} />
    </details>
  );
}

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
function permissionWords(permissions: Readonly<Record<string, Json>>): string {
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

/** `/models`: what can be asked, and what is missing for it. */
export const modelsPage = listPage("models", {
  one: "model",
  parts: ["models"],
  list({ models }) {
    const chosen = models.find(({ isDefault }) => isDefault);
    return {
      lede: chosen === undefined
        ? "None is asked by default: set models.default in orrery.yaml, or ORRERY_MODEL."
        : `${chosen.id} is asked where nothing else is said.`,
      tables: [
        table(
          "Models",
          MODELS,
          models.toSorted((a, b) => rankOf(a) - rankOf(b)),
          ({ id, provider = "", model = "", about = "" }) => `${id} ${provider} ${model} ${about}`,
        ),
      ],
    };
  },
});

/** Those that can be asked come first, before them the one that is. */
function rankOf({ usable, isDefault, kind }: ListedModel): number {
  if (isDefault === true) return 0;
  if (kind === "form") return 3;
  return usable ? 1 : 2;
}

const MODELS: readonly Column<ListedModel>[] = [
  ["Name", ({ id }) => id, "name"],
  ["State", ({ usable, isDefault, kind }) => (
    <>
      {kind !== "form" && <Badge tone={usable ? "good" : "plain"}>{usable ? "ready" : "not ready"}</Badge>}
      {" "}
      {isDefault === true && <Badge tone="busy">default</Badge>}
    </>
  ), "nowrap"],
  [
    "About",
    ({ about = "", model, fallback }) =>
      [model && `stands for ${model}`, about, fallback && `then ${fallback.join(", ")}`]
        .filter(Boolean).join("; "),
  ],
  ["In, out per million", ({ price }) => price === undefined ? "" : priceText(price), "number"],
  ["Context", ({ contextTokens }) => contextTokens?.toLocaleString("en-GB"), "number"],
];

/** `$2.50, $10` */
function priceText({ input, output }: JsonObject): string {
  return [input, output].filter((each) => typeof each === "number").map((each) => `$${each}`).join(", ");
}
