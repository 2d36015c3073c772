import { definePage } from "./define_page.tsx";
import { Graph } from "./graph.tsx";
import { PageHead } from "./layout.tsx";
import { modelIds } from "./models.tsx";
import { Problems, Source } from "./parts.tsx";
import { PATH_PARAMS } from "./path_params.ts";
import { AskField, ModelField, StartForm } from "./schema_form.tsx";

/** `/calls/PATH`: a file of calls, its graph, and a button to run it. */
export const callsPage = definePage({
  path: "/calls/{path+}",
  summary: "The page of one call file",
  request: { params: PATH_PARAMS },
  async page({ service: { look }, params: { path } }) {
    const { problems } = await look.graph(path); // tells what is no call file
    const source = await look.source(path);
    return {
      title: path,
      section: "documents",
      modules: ["form"],
      children: (
        <>
          <PageHead title={path} code crumbs={[{ href: "/documents", words: "Documents" }]} />
          <div class="two">
            <div class="stack">
              <Problems problems={problems} here />
              <section>
                <h2>Source</h2>
                <Source
                  text={source}
                  label={`The source of ${path}`}
                  problems={problems}
                  kindOf={kindOfLine}
                />
              </section>
              <Graph file={path} />
            </div>
            <div class="side first">
              <StartForm kind="file" name={path} schema={NO_INPUT} title="Run it" button="Run">
                <ModelField models={await modelIds(look)} hint="For prompts that name none" />
                <AskField />
              </StartForm>
            </div>
          </div>
        </>
      ),
    };
  },
});

const NO_INPUT = { type: "object", properties: {} };

function kindOfLine(line: string): "operation" | undefined {
  return /^!!!\w*_(START|END)\b/.test(line) ? "operation" : undefined;
}
