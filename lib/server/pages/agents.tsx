import type { JSX } from "hono/jsx/jsx-runtime";
import type { AgentPageJson, AgentStepJson, ListedAgent } from "../../service/look/look.ts";
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
  Problems,
  SearchedList,
  Source,
  Two,
} from "./parts.tsx";
import { AskField, JsonInput, ModelField, SayField, StartForm } from "./schema_form.tsx";

/** `/agents`: conversations that can be had. */
export const agentsPage = definePage({
  path: "/agents",
  summary: "The page of all agents",
  request: { query: SEARCH_QUERY },
  async page({ service, query: { q = "" } }) {
    const { agents } = await service.look.catalog(["agents"]);
    return {
      title: "Agents",
      section: "agents",
      modules: ["search"],
      children: (
        <>
          <PageHead
            title="Agents"
            lede="Conversations whose steps, conditions and memory are written down in a file."
          />
          {agents.length === 0
            ? (
              <Empty>
                The project has no agents: they are files that end with <code>.agent.yml</code> or{" "}
                <code>.agent.yaml</code>.
              </Empty>
            )
            : <SearchedList of="agent" columns={COLUMNS} rows={agents} searchText={searchText} q={q} />}
        </>
      ),
    };
  },
});

function searchText({ file, id = "" }: ListedAgent): string {
  return `${file} ${id}`;
}

const COLUMNS: readonly Column<ListedAgent>[] = [
  { head: "File", kind: "name", cell: ({ file }) => <a href={href("/agents", file)}>{file}</a> },
  { head: "Agent", kind: "name", cell: ({ id }) => id },
  { head: "Steps", kind: "number", cell: ({ steps }) => steps },
  {
    head: "State",
    cell: ({ problem }) =>
      problem === undefined ? <Badge tone="good">ready</Badge> : (
        <>
          <Badge tone="bad">broken</Badge> {problem}
        </>
      ),
  },
];

/** `/agents/PATH`: its steps, its graph, and a form to begin a conversation. */
export const agentPage = definePage({
  path: "/agents/{path+}",
  summary: "The page of one agent",
  request: { params: PATH_PARAMS },
  async page({ service, params: { path } }) {
    const agent = await service.look.agent(path);
    const { file, id, stepList, problems, source, problem } = agent;
    return {
      title: id ?? file,
      section: "agents",
      modules: ["form"],
      children: (
        <>
          <PageHead
            title={id ?? file}
            code={id === undefined}
            crumbs={[{ href: "/agents", words: "Agents" }]}
            tags={
              <>
                <code>{file}</code> <span>{counted(stepList.length, "step")}</span>
                {problem !== undefined && <Badge tone="bad">broken</Badge>}
              </>
            }
          />
          <Two
            side={problem === undefined
              ? (
                <StartForm
                  kind="agent"
                  name={file}
                  schema={NO_INPUT}
                  title="Begin a conversation"
                  button="Begin"
                >
                  <SayField
                    name="say"
                    label="First message"
                    hint="Empty: the agent speaks first, when it does."
                  />
                  <SayField
                    name="user"
                    label="User"
                    hint="Whose slots it knows. Empty: the one of this machine."
                  />
                  <JsonInput
                    label="Slots"
                    hint="A JSON object: what its slots hold before its first step. Optional."
                  />
                  <ModelField
                    models={await modelIds(service.look)}
                    hint="Empty: that of the agent, or of the project"
                  />
                  <AskField />
                </StartForm>
              )
              : (
                <p class="note" data-tone="bad">
                  No conversation can begin before its errors are corrected.
                </p>
              )}
          >
            <Problems problems={problems} here />
            {problem === undefined && <Steps agent={agent} />}
            {problem === undefined && <Graph file={file} />}
            <details class="fold" open={problem !== undefined}>
              <summary>Source</summary>
              <Source text={source} label={`The source of ${file}`} problems={problems} />
            </details>
          </Two>
        </>
      ),
    };
  },
});

/** Its slots are one field for all: which of them there are is not said anywhere. */
const NO_INPUT = { type: "object", properties: {} };

function Steps({ agent: { stepList, constants, slots } }: { readonly agent: AgentPageJson }): JSX.Element {
  return (
    <>
      {slots.length + Object.keys(constants).length > 0 && (
        <section class="panel">
          <Facts
            of={[
              [
                "Filled first",
                slots.length === 0
                  ? undefined
                  : slots.map(({ name, from }) => `${name} from ${from}`).join("; "),
              ],
              [
                "Constants",
                Object.keys(constants).length === 0
                  ? undefined
                  : <code>{Object.keys(constants).join(", ")}</code>,
              ],
            ]}
          />
        </section>
      )}
      <section>
        <h2>Steps</h2>
        <ol class="outline panel">{stepList.map((step) => <Step step={step} />)}</ol>
      </section>
    </>
  );
}

function Step({ step }: { readonly step: AgentStepJson }): JSX.Element {
  const { id, kind, depth, line, isHolding, conditions, flows, reads, writes } = step;
  const words = [
    ...conditions.map((condition, index) => `${index === 0 ? "if" : "and"} ${condition}`),
    ...Object.entries(flows).map(([key, flow]) => key === "flow" ? flow : `${key}: ${flow}`),
    ...(reads.length === 0 ? [] : [`reads ${reads.join(", ")}`]),
    ...(writes.length === 0 ? [] : [`writes ${writes.join(", ")}`]),
  ];
  return (
    <li data-depth={Math.min(depth, 4)}>
      <a class="code" href={`#L${line}`}>{id}</a> <Badge>{kind}</Badge>
      {isHolding && <Badge tone="wait">waits for the user</Badge>}
      <span class="soft">{words.join("; ")}</span>
    </li>
  );
}
