import type { JSX } from "hono/jsx/jsx-runtime";
import { stateWord } from "../../render/step_words.ts";
import type { TalkState } from "../../service/service.ts";
import { ID_PARAMS } from "../api/schemas.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { AsksOf, href, jsonText, RunStatusBadge, whileIn } from "./parts.tsx";

/** More of a long conversation is in its trace. */
const SHOWN_MESSAGES = 500;

/** `/conversations/ID` */
export const conversationPage = definePage({
  path: "/conversations/{id}",
  summary: "The page of a conversation",
  params: ID_PARAMS,
  async page({ service, params: { id } }) {
    const talk = await (await service.talks.open(id)).state({ last: SHOWN_MESSAGES });
    return {
      title: `Conversation with ${talk.agent}`,
      section: "agents",
      modules: ["chat_page"],
      asksOf: talk.id,
      children: <Conversation talk={talk} />,
    };
  },
});

function Conversation({ talk }: { readonly talk: TalkState }): JSX.Element {
  const { id, agent, status, messages, error, slots } = talk;
  return (
    <div data-chat-page={id} data-chat-status={status}>
      <PageHead
        title={agent}
        code
        crumbs={[{ href: "/agents", words: "Agents" }, { href: href("/agents", agent), words: agent }]}
        tags={
          <>
            <RunStatusBadge status={talk.interrupted ? "stopped" : stateWord(talk)} live />
            <code>{id}</code>
          </>
        }
        actions={
          <>
            <button type="button" data-chat-do="back" hidden={talk.turns === 0}>
              Take back the last turn
            </button>
            <a class="button" href={`${href("/runs", id)}/trace`}>Trace</a>
          </>
        }
      />
      <div class="two chat-page">
        <section class="chat" aria-label="Conversation">
          <div
            class="chat-log"
            data-chat-log
            role="log"
            aria-live="polite"
            aria-label="Messages"
            tabindex={0}
          >
            {messages.map((message) => <Message message={message} />)}
          </div>
          <p class="soft small chat-busy" data-chat-busy role="status" hidden={status !== "running"}>
            The agent is at work…
          </p>
          <AsksOf run={id} />
          <p class="note" data-tone="bad" role="alert" data-run-problem hidden={error === undefined}>
            {error}
          </p>
          <div class="submit" {...whileIn("failed", status)}>
            <button type="button" data-chat-do="retry" {...whileIn("failed", status)}>
              Try again
            </button>
          </div>
          <p class="note" {...whileIn("completed", status)}>
            This conversation has come to its end.
          </p>
          <noscript>
            <p class="note">To talk, the page needs its scripts.</p>
          </noscript>
          <form
            class="chat-form"
            data-chat-form
            {...whileIn("held failed running", status)}
          >
            <label class="unseen" for="say">What you say</label>
            <textarea
              id="say"
              name="text"
              rows={2}
              placeholder="Enter sends, Shift and Enter begin a new line"
            />
            <input
              type="file"
              name="files"
              multiple
              aria-label="Files that are shown with it: images, PDFs or text"
              title="Images, PDFs or text; they can be pasted or dropped too"
            />
            <button type="submit" class="main" {...whileIn("held failed", status)}>
              Send
            </button>
            <button
              type="button"
              class="danger"
              data-chat-do="cancel"
              {...whileIn("running", status)}
            >
              Stop
            </button>
          </form>
        </section>
        <aside class="side stack" aria-label="What happens inside">
          <section data-chat-steps hidden aria-labelledby="steps">
            <h2 id="steps">Steps</h2>
            <div class="side-rows" data-chat-rows></div>
          </section>
          <details class="fold" open>
            <summary>Slots</summary>
            <pre
              class="block wrap"
              data-chat-slots
              tabindex={0}
              role="group"
              aria-label="Slots"
            >{jsonText(slots)}</pre>
          </details>
        </aside>
      </div>
    </div>
  );
}

/** As the module `chat_page` makes them. */
function Message({ message: { n, role, text, media = [], answered } }: {
  readonly message: TalkState["messages"][number];
}): JSX.Element {
  const isUser = role === "user";
  return (
    <div
      class="chat-message"
      data-role={isUser ? "user" : "agent"}
      data-n={answered === undefined ? n : undefined}
      data-sent={answered === undefined ? undefined : ""}
    >
      <span class="chat-who">{isUser ? "You" : "Agent"}</span>
      <div class="chat-text">{text}</div>
      {media.length > 0 && (
        <span class="chat-files soft small">
          {media.map(({ name, mediaType }) => name ?? mediaType).join(", ")}
        </span>
      )}
    </div>
  );
}
