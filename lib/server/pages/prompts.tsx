import type {
  ListedPrompt,
  ListedTactic,
  Look,
  ProfileJson,
  PromptPageJson,
} from "../../service/look/look.ts";
import { ServiceError } from "../../service/service.ts";
import { itemPage, type ItemParts, listPage, table } from "./define_page.tsx";
import { firstSentence } from "./gadgets.tsx";
import { Badge, Block, type Column, Facts, href, jsonText, List } from "./parts.tsx";

/** `/prompts`: prompts, tactics, and the profiles that they ask. */
export const promptsPage = listPage("prompts", {
  one: "prompt",
  parts: ["prompts", "tactics", "profiles", "problems"],
  list: ({ prompts, tactics, profiles, problems }) => ({
    lede: "Texts with variables, tools, and a contract that each answer is held to.",
    none: (
      <>
        <p>The project has no prompts.</p>
        <p>
          They are <code>*.prompt.md</code>, <code>*.prompt</code> and <code>*.ts</code> files in{" "}
          <code>prompts/</code>, or in the folders that <code>prompts.folders</code> of{" "}
          <code>orrery.yaml</code> names.
        </p>
      </>
    ),
    tables: [
      table(
        "Prompts",
        PROMPTS,
        prompts,
        ({ path, description = "", file }) => `${path} ${description} ${file}`,
      ),
      table("Tactics", TACTICS, tactics),
      table("Profiles", profileColumns(new Set(prompts.map(({ path }) => path))), profiles),
    ],
    problems,
  }),
});

const PROMPTS: readonly Column<ListedPrompt>[] = [
  ["Path", ({ path }) => <a href={href("/prompts", path)}>{path}</a>, "name"],
  ["What it is for", ({ description = "" }) => firstSentence(description)],
  ["Answer", ({ answer }) => answer === "json" ? "JSON" : answer, "nowrap"],
  ["Variables", ({ variables }) => variables.join(", "), "name"],
  ["Tools", ({ tools }) => tools.join(", "), "name"],
];

const TACTICS: readonly Column<ListedTactic>[] = [
  ["Name", ({ name }) => <a href={href("/prompts", name)}>{name}</a>, "name"],
  ["Asks", ({ agents }) => agents.join(", "), "name"],
  ["File", ({ file, line }) => `${file}:${line}`, "name"],
];

/** @param known prompts that have a page: those of a module that was not loaded have none */
function profileColumns(known: ReadonlySet<string>): readonly Column<ProfileJson>[] {
  return [
    ["Name", ({ name }) => name, "name"],
    ["Model", ({ model }) => model, "name"],
    ["System", ({ systemPrompt, system }) => {
      if (systemPrompt === null) return firstSentence(system ?? "");
      return known.has(systemPrompt)
        ? <a class="code" href={href("/prompts", systemPrompt)}>{systemPrompt}</a>
        : <code>{systemPrompt}</code>;
    }],
  ];
}

/** `/prompts/PATH`: its text, its variables, its contract, and a form to run it. */
export const promptPage = itemPage("prompts", {
  of: "prompt, or of a tactic",
  async item(look, path) {
    const prompt = await maybePrompt(look, path);
    return prompt === undefined ? await tacticParts(look, path) : promptParts(prompt);
  },
});

/** Undefined where it may be a tactic. */
async function maybePrompt(look: Look, path: string): Promise<PromptPageJson | undefined> {
  try {
    return await look.prompt(path);
  } catch (error) {
    const { tactics } = await look.catalog(["tactics"]);
    if (error instanceof ServiceError && tactics.some(({ name }) => name === path)) return undefined;
    throw error;
  }
}

function promptParts(prompt: PromptPageJson): ItemParts {
  const { path, description, answer, file, line, variables, tools, input, template, contract, toolList } =
    prompt;
  const names = (of: readonly string[]) => of.length === 0 ? "none" : <code>{of.join(", ")}</code>;
  return {
    title: path,
    code: true,
    lede: description,
    tags: <Badge>answers with {answer === "json" ? "JSON" : answer}</Badge>,
    start: {
      kind: "prompt",
      name: path,
      schema: input,
      more: <button type="button" data-render={href("/v1/prompts", path)} hidden>Show its text</button>,
      say: ["Message", "Said to the model behind the text."],
      model: "Empty: that of the prompt, or of the project",
    },
    children: (
      <>
        <section class="panel">
          <Facts
            of={[
              ["File", <code>{file}:{line}</code>],
              ["Variables", names(variables)],
              ["Tools", names(tools)],
              ["Hashes", <code>{prompt.promptHash.slice(0, 12)} {prompt.contractHash.slice(0, 12)}</code>],
            ]}
          />
        </section>
        <section>
          <h2>Template</h2>
          <Block label="The template" text={template} />
        </section>
        <section data-rendered-section hidden>
          <h2>As a model gets it</h2>
          <pre
            class="block wrap"
            tabindex={0}
            role="region"
            aria-label="The text with these values"
            data-rendered
          ></pre>
        </section>
        <section>
          <h2>Contract</h2>
          <Block label="What its answer is held to" text={jsonText(contract)} wrap={false} />
        </section>
        {toolList.length > 0 && (
          <section>
            <h2>Tools</h2>
            <List label="Tools" columns={TOOLS} rows={toolList} />
          </section>
        )}
      </>
    ),
  };
}

const TOOLS: readonly Column<PromptPageJson["toolList"][number]>[] = [
  [
    "Name",
    ({ name, state }) => state === "catalogue" ? <a href={href("/gadgets", name)}>{name}</a> : name,
    "name",
  ],
  ["State", ({ state }) => <Badge tone={USABLE.has(state) ? "good" : "wait"}>{state}</Badge>, "nowrap"],
  ["What it does", ({ description = "", problem }) => problem ?? firstSentence(description)],
];

const USABLE: ReadonlySet<string> = new Set(["catalogue", "linked", "server"]);

async function tacticParts(look: Look, name: string): Promise<ItemParts> {
  const { agents, file, line } = await look.tactic(name);
  return {
    title: name,
    code: true,
    tags: <Badge>tactic</Badge>,
    start: { kind: "tactic", name, say: ["Message", "What it is asked."] },
    children: (
      <section class="panel">
        <Facts of={[["File", <code>{file}:{line}</code>], ["Asks", <code>{agents.join(", ")}</code>]]} />
      </section>
    ),
  };
}
