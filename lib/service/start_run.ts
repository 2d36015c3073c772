import type { Catalog } from "../core/catalog.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { ServiceError } from "./service.ts";
import type { StartRun } from "./service.ts";
import { startCallFile, startCalls } from "./start_calls.ts";

/** What is started where. */
export interface StartRunPlace extends StartPlace {
  readonly catalog: Catalog;
}

/** Makes ready what somebody wishes to run. Nothing of it has run by then. @throws as `Service.start`, at once or later */
export function startRun(request: StartRun, at: StartRunPlace): Promise<ReadyRun> {
  switch (request.kind) {
    case "file":
      return startFile(request, at);
    case "calls":
      return startCalls(request, at);
    default:
      return startOther(request, at);
  }
}

async function startOther(
  request: Exclude<StartRun, { readonly kind: "file" | "calls" }>,
  at: StartRunPlace,
): Promise<ReadyRun> {
  switch (request.kind) {
    case "gadget": {
      const { startGadget }: typeof import("./start_gadget.ts") = await import("./start_gadget.ts" as string);
      return await startGadget(request, at);
    }
    case "prompt": {
      const { startPrompt }: typeof import("./start_prompt.ts") = await import("./start_prompt.ts" as string);
      return await startPrompt(request, at);
    }
    case "ask": {
      const { startAsk }: typeof import("./start_ask.ts") = await import("./start_ask.ts" as string);
      return await startAsk(request, at);
    }
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
    const { startDocument }: typeof import("./start_document.ts") = await import(
      "./start_document.ts" as string
    );
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
