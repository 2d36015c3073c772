import type { JSX } from "hono/jsx/jsx-runtime";
import type { OpenAsk, RunState } from "../../service/service.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { href } from "./parts.tsx";

/** `/asks` */
export const asksPage = definePage({
  path: "/asks",
  summary: "All questions that wait for a person",
  page({ service }) {
    return {
      title: "Questions",
      section: "asks",
      modules: ["ask_panel"],
      asksOf: "all",
      children: <Asks runs={service.now.waiting} />,
    };
  },
});

function Asks({ runs }: { readonly runs: readonly RunState[] }): JSX.Element {
  return (
    <>
      <PageHead
        title="Questions"
        lede="What runs wait for: a permission, or something that only a person knows."
      />
      <div data-live="asks">
        <p class="empty" data-no-asks hidden={runs.length > 0}>Nothing waits for an answer.</p>
        <noscript>
          {runs.length > 0 && <p class="note">To answer, the page needs its scripts.</p>}
        </noscript>
        <div class="stack">
          {runs.map(({ id, file, kind, asks }) => (
            <section aria-label={`Questions of run ${id}`}>
              <h2>
                <a href={kind === "conversation" ? href("/conversations", id) : href("/runs", id)}>
                  {file ?? kind}
                </a>{" "}
                <code class="soft">{id}</code>
              </h2>
              <div class="asks">
                {asks.map((ask) => <AskCard run={id} ask={ask} />)}
              </div>
            </section>
          ))}
        </div>
      </div>
    </>
  );
}

/** As the module `ask_panel` makes them. */
function AskCard({ run, ask }: { readonly run: string; readonly ask: OpenAsk }): JSX.Element {
  const { kind, subject, permissions = [], question } = ask;
  return (
    <form class="ask" data-ask={ask.ask} data-ask-run={run}>
      <h3>{kind === "permission" ? "May it?" : "A question"}</h3>
      <p class="ask-question">{question}</p>
      {kind === "permission" && subject !== undefined && (
        <p class="soft small">
          For <code>{subject}</code>
        </p>
      )}
      {permissions.length > 0 && (
        <p class="soft small">
          Not asked about with {permissions.map((flag) => (
            <>
              <code>{flag}</code>
              {" "}
            </>
          ))}
        </p>
      )}
      <AskControls run={run} ask={ask} />
      <p class="wrong" data-ask-problem role="status"></p>
    </form>
  );
}

function AskControls({ run, ask: { ask, kind, choices = [] } }: {
  readonly run: string;
  readonly ask: OpenAsk;
}): JSX.Element {
  if (kind === "permission") {
    return (
      <div class="submit">
        <button type="submit" class="main" name="allow" value="yes">Allow</button>
        <button type="submit" name="allow" value="no">Refuse</button>
      </div>
    );
  }
  if (choices.length > 0) {
    return (
      <div class="submit">
        {choices.map((text) => <button type="submit" name="text" value={text}>{text}</button>)}
      </div>
    );
  }
  const id = `answer-${run}-${ask}`;
  return (
    <div class="field">
      <label for={id}>Your answer</label>
      <textarea id={id} name="text" rows={2} required />
      <div class="submit">
        <button type="submit" class="main">Answer</button>
      </div>
    </div>
  );
}
