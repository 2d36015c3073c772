import type { Catalog } from "../core/catalog.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { ServiceError } from "./service.ts";
import type { StartRun } from "./service.ts";
import { startCallFile, startCalls } from "./start_calls.ts";
import { startAsk } from "./start_ask.ts";
import { startDocument } from "./start_document.ts";
import { startGadget } from "./start_gadget.ts";
import { startPrompt } from "./start_prompt.ts";

/** What is started where. */
export interface StartRunPlace extends StartPlace {
  readonly catalog: Catalog;
}

/** Makes ready what somebody wishes to run. Nothing of it has run by then. @throws as `Service.start` */
export async function startRun(request: StartRun, at: StartRunPlace): Promise<ReadyRun> {
  switch (request.kind) {
    case "file":
      return await startFile(request, at);
    case "calls":
      return await startCalls(request, at);
    case "gadget":
      return await startGadget(request, at);
    case "prompt":
      return await startPrompt(request, at);
    case "ask":
      return await startAsk(request, at);
    default:
      return request satisfies never;
  }
}

const OF_DOCUMENTS = ["input", "prompt", "blocks", "mode", "out"] as const;

/** @throws {ServiceError} `invalid` */
async function startFile(
  wish: Extract<StartRun, { readonly kind: "file" }>,
  at: StartRunPlace,
): Promise<ReadyRun> {
  const { file } = wish;
  if (/\.calls$/i.test(file)) {
    const field = OF_DOCUMENTS.find((name) =>
      wish[name] !== undefined && (name !== "out" || wish.out !== "none")
    );
    if (field === undefined) return await startCallFile(wish, at);
    throw new ServiceError(`${field} is for documents; a call file takes none`, {
      code: "invalid",
      details: { field },
    });
  }
  if (/\.md$/i.test(file)) {
    return await startDocument(wish, at);
  }
  const hint = /\.agent\.ya?ml$/i.test(file)
    ? "an agent is talked to: begin a conversation with it"
    : "name one";
  throw new ServiceError(
    `file: expected a call file (.calls) or a document (.md), found ${JSON.stringify(file)}; ${hint}`,
    { code: "invalid", details: { field: "file" } },
  );
}
