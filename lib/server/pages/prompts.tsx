import type { JSX } from "hono/jsx/jsx-runtime";
import type { ListedPrompt, ListedTactic, ProfileJson, PromptPageJson } from "../../service/look/look.ts";
import { type Service, ServiceError } from "../../service/service.ts";
import { definePage, PATH_PARAMS, SEARCH_QUERY } from "./define_page.tsx";
import { firstSentence } from "./gadgets.tsx";
import { PageHead, type PageParts } from "./layout.tsx";
import { modelIds } from "./models.tsx";
import {
  Badge,
  Block,
  type Column,
  Empty,
  Facts,
  href,
  jsonText,
  List,
  Problems,
  SearchedList,
  Two,
} from "./parts.tsx";
import { AskField, ModelField, SayField, StartForm } from "./schema_form.tsx";

/** `/prompts`: prompts, tactics, and the profiles that they ask. */
export const promptsPage = definePage({
  path: "/prompts",
  summary: "The page of all prompts",
  request: { query: SEARCH_QUERY },
  async page({ service, query: { q = "" } }) {
    const { prompts, tactics, profiles, problems } = await service.look.catalog([
      "prompts",
      "tactics",
      "profiles",
      "problems",
    ]);
    return {
      title: "Prompts",
      section: "prompts",
      modules: ["search"],
      children: (
        <>
          <PageHead
            title="Prompts"
            lede="Texts with variables, tools, and a contract that each answer is held to."
          />
          <div class="stack">
            {prompts.length === 0 ? <NoPrompts /> : (
              <section>
                <SearchedList of="prompt" columns={PROMPTS} rows={prompts} searchText={promptText} q={q} />
              </section>
            )}
            {tactics.length > 0 && (
              <section>
                <h2>Tactics</h2>
                <List label="Tactics" columns={TACTICS} rows={tactics} />
              </section>
            )}
            {profiles.length > 0 && (
              <section>
                <h2>Profiles</h2>
                <List
                  label="Profiles"
                  columns={profileColumns(new Set(prompts.map(({ path }) => path)))}
                  rows={profiles}
                />
              </section>
            )}
            <Problems problems={problems} />
          </div>
        </>
      ),
    };
  },
});

function NoPrompts(): JSX.Element {
  return (
    <Empty>
      <p>The project has no prompts.</p>
      <p>
        They are <code>*.prompt.md</code>, <code>*.prompt</code> and <code>*.ts</code> files in{" "}
        <code>prompts/</code>, or in the folders that <code>prompts.folders</code> of <code>orrery.yaml</code>
        {" "}
        names.
      </p>
    </Empty>
  );
}

function promptText({ path, description = "", file }: ListedPrompt): string {
  return `${path} ${description} ${file}`;
}

const PROMPTS: readonly Column<ListedPrompt>[] = [
  { head: "Path", kind: "name", cell: ({ path }) => <a href={href("/prompts", path)}>{path}</a> },
  { head: "What it is for", cell: ({ description = "" }) => firstSentence(description) },
  { head: "Answer", kind: "nowrap", cell: ({ answer }) => answer === "json" ? "JSON" : answer },
  { head: "Variables", kind: "name", cell: ({ variables }) => variables.join(", ") },
  { head: "Tools", kind: "name", cell: ({ tools }) => tools.join(", ") },
];

const TACTICS: readonly Column<ListedTactic>[] = [
  { head: "Name", kind: "name", cell: ({ name }) => <a href={href("/prompts", name)}>{name}</a> },
  { head: "Asks", kind: "name", cell: ({ agents }) => agents.join(", ") },
  { head: "File", kind: "name", cell: ({ file, line }) => `${file}:${line}` },
];

/** @param known prompts that have a page: those of a module that was not loaded have none */
function profileColumns(known: ReadonlySet<string>): readonly Column<ProfileJson>[] {
  return [
    { head: "Name", kind: "name", cell: ({ name }) => name },
    { head: "Model", kind: "name", cell: ({ model }) => model },
    {
      head: "System",
      cell: ({ systemPrompt, system }) => {
        if (systemPrompt === null) return firstSentence(system ?? "");
        return known.has(systemPrompt)
          ? <a class="code" href={href("/prompts", systemPrompt)}>{systemPrompt}</a>
          : <code>{systemPrompt}</code>;
      },
    },
  ];
}

/** `/prompts/PATH`: its text, its variables, its contract, and a form to run it. */
export const promptPage = definePage({
  path: "/prompts/{path+}",
  summary: "The page of one prompt, or of a tactic",
  request: { params: PATH_PARAMS },
  async page({ service, params: { path } }) {
    const prompt = await maybePrompt(service, path);
    return prompt === undefined ? await tacticParts(service, path) : await promptParts(service, prompt);
  },
});

/** Undefined where it may be a tactic. */
async function maybePrompt(service: Service, path: string): Promise<PromptPageJson | undefined> {
  try {
    return await service.look.prompt(path);
  } catch (error) {
    const { tactics } = await service.look.catalog(["tactics"]);
    if (error instanceof ServiceError && tactics.some(({ name }) => name === path)) return undefined;
    throw error;
  }
}

async function promptParts(service: Service, prompt: PromptPageJson): Promise<PageParts> {
  const { path, description, answer, file, line, variables, tools, input, template, contract, toolList } =
    prompt;
  return {
    title: path,
    section: "prompts",
    modules: ["form"],
    children: (
      <>
        <PageHead
          title={path}
          code
          crumbs={[{ href: "/prompts", words: "Prompts" }]}
          lede={description}
          tags={<Badge>answers with {answer === "json" ? "JSON" : answer}</Badge>}
        />
        <Two
          side={
            <StartForm
              kind="prompt"
              name={path}
              schema={input}
              title="Run it"
              button="Run"
              more={
                <button type="button" data-render={href("/v1/prompts", path)} hidden>Show its text</button>
              }
            >
              <SayField name="say" label="Message" hint="Said to the model behind the text." />
              <ModelField
                models={await modelIds(service.look)}
                hint="Empty: that of the prompt, or of the project"
              />
              <AskField />
            </StartForm>
          }
        >
          <section class="panel">
            <Facts
              of={[
                ["File", <code>{file}:{line}</code>],
                ["Variables", variables.length === 0 ? "none" : <code>{variables.join(", ")}</code>],
                ["Tools", tools.length === 0 ? "none" : <code>{tools.join(", ")}</code>],
                [
                  "Hashes",
                  <code>{prompt.promptHash.slice(0, 12)} {prompt.contractHash.slice(0, 12)}</code>,
                ],
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
        </Two>
      </>
    ),
  };
}

const TOOLS: readonly Column<PromptPageJson["toolList"][number]>[] = [
  {
    head: "Name",
    kind: "name",
    cell: ({ name, state }) => state === "catalogue" ? <a href={href("/gadgets", name)}>{name}</a> : name,
  },
  {
    head: "State",
    kind: "nowrap",
    cell: ({ state }) => <Badge tone={isUsable(state) ? "good" : "wait"}>{state}</Badge>,
  },
  { head: "What it does", cell: ({ description = "", problem }) => problem ?? firstSentence(description) },
];

function isUsable(state: string): boolean {
  return state === "catalogue" || state === "linked" || state === "server";
}

async function tacticParts(service: Service, name: string): Promise<PageParts> {
  const { agents, file, line } = await service.look.tactic(name);
  return {
    title: name,
    section: "prompts",
    modules: ["form"],
    children: (
      <>
        <PageHead
          title={name}
          code
          crumbs={[{ href: "/prompts", words: "Prompts" }]}
          tags={<Badge>tactic</Badge>}
        />
        <div class="two">
          <section class="panel">
            <Facts of={[["File", <code>{file}:{line}</code>], ["Asks", <code>{agents.join(", ")}</code>]]} />
          </section>
          <div class="side first">
            <StartForm kind="tactic" name={name} title="Run it" button="Run">
              <SayField name="say" label="Message" hint="What it is asked." />
              <AskField />
            </StartForm>
          </div>
        </div>
      </>
    ),
  };
}
