import type { JSX } from "hono/jsx/jsx-runtime";
import type { AgentPageJson, AgentStepJson, ListedAgent } from "../../service/look/look.ts";
import { itemPage, listPage, table } from "./define_page.tsx";
import { Graph } from "./graph.tsx";
import { counted } from "../../render/run_tally.ts";
import { Badge, type Column, Facts, href, Problems, Source } from "./parts.tsx";
import { JsonInput, NO_INPUT, TextField } from "./schema_form.tsx";

/** `/agents`: conversations that can be had. */
export const agentsPage = listPage("agents", {
  one: "agent",
  parts: ["agents"],
  list: ({ agents }) => ({
    lede: "Conversations whose steps, conditions and memory are written down in a file.",
    none: (
      <>
        The project has no agents: they are files that end with <code>.agent.yml</code> or{" "}
        <code>.agent.yaml</code>.
      </>
    ),
    tables: [table("Agents", COLUMNS, agents, ({ file, id = "" }) => `${file} ${id}`)],
  }),
});

const COLUMNS: readonly Column<ListedAgent>[] = [
  ["File", ({ file }) => <a href={href("/agents", file)}>{file}</a>, "name"],
  ["Agent", ({ id }) => id, "name"],
  ["Steps", ({ steps }) => steps, "number"],
  ["State", ({ problem }) =>
    problem === undefined ? <Badge tone="good">ready</Badge> : (
      <>
        <Badge tone="bad">broken</Badge> {problem}
      </>
    )],
];

/** `/agents/PATH`: its steps, its graph, and a form to begin a conversation. */
export const agentPage = itemPage("agents", {
  of: "agent",
  async item(look, path) {
    const agent = await look.agent(path);
    const { file, id, stepList, problems, source, problem } = agent;
    const isBroken = problem !== undefined;
    return {
      title: id ?? file,
      code: id === undefined,
      tags: (
        <>
          <code>{file}</code> <span>{counted(stepList.length, "step")}</span>
          {isBroken && <Badge tone="bad">broken</Badge>}
        </>
      ),
      start: isBroken ? { tone: "bad", not: "No conversation can begin before its errors are corrected." } : {
        kind: "agent",
        name: file,
        schema: NO_INPUT, // its slots are one field for all: which of them there are is not said anywhere
        title: "Begin a conversation",
        button: "Begin",
        say: ["First message", "Empty: the agent speaks first, when it does."],
        fields: (
          <>
            <TextField
              name="user"
              label="User"
              hint="Whose slots it knows. Empty: the one of this machine."
            />
            <JsonInput
              label="Slots"
              hint="A JSON object: what its slots hold before its first step. Optional."
            />
          </>
        ),
        model: "Empty: that of the agent, or of the project",
      },
      children: (
        <>
          <Problems problems={problems} here />
          {!isBroken && <Steps agent={agent} />}
          {!isBroken && <Graph file={file} />}
          <details class="fold" open={isBroken}>
            <summary>Source</summary>
            <Source text={source} label={`The source of ${file}`} problems={problems} />
          </details>
        </>
      ),
    };
  },
});

function Steps({ agent: { stepList, constants, slots } }: { readonly agent: AgentPageJson }): JSX.Element {
  const names = Object.keys(constants).join(", ");
  const filled = slots.map(({ name, from }) => `${name} from ${from}`).join("; ");
  return (
    <>
      {filled + names !== "" && (
        <section class="panel">
          <Facts of={[["Filled first", filled], ["Constants", names && <code>{names}</code>]]} />
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
