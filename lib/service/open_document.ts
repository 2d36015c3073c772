// A document with everything that it needs to run: what `run` and `resume` open in the same way.

import { homeMeans } from "../project/document_home.ts";
import type { DocumentHome } from "../project/document_home.ts";
import type { DocumentPlace } from "../project/document_place.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import type { DocumentResults } from "./document_results.ts";
import type { DocumentRunInput } from "./document_run_input.ts";
import type { PromptCallsOptions } from "./open_prompt_calls.ts";

/** What a document is run with, for the engine. */
export function documentMeans(
  home: DocumentHome,
  { input, results }: { readonly input: DocumentRunInput; readonly results: DocumentResults },
): DocumentMeans {
  return homeMeans(home, { wishes: input, result: (document) => results.keep(document) });
}

/** The prompts and documents that the tools of a document may ask and run. */
export function documentCalls(
  place: DocumentPlace,
): Pick<PromptCallsOptions, "place" | "catalog" | "world" | "canAsk"> {
  const { project, grants, accepted, catalog, canAsk } = place;
  return { place: () => ({ project, grants, accepted }), catalog, canAsk };
}
