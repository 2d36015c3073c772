// A document with everything that it needs to run: what `run`, `check` and `resume` open in the same way.

import type { CheckDocumentOptions } from "../check/check_options.ts";
import { homeCheck, homeMeans } from "../project/document_home.ts";
import { placeHome } from "../project/document_place.ts";
import type { DocumentPlace } from "../project/document_place.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import type { DocumentResults } from "./document_results.ts";
import type { DocumentRunInput } from "./document_run_input.ts";
import type { DocumentWork } from "./perform_document.ts";

/** What a check of a document in this place needs, without the document's own input. */
export function checkOptions(place: DocumentPlace): Omit<CheckDocumentOptions, "input" | "model" | "mode"> {
  return homeCheck(placeHome(place));
}

/** The same for the engine. */
export function documentMeans(
  place: DocumentPlace,
  { input, results }: { readonly input: DocumentRunInput; readonly results: DocumentResults },
): DocumentMeans {
  return homeMeans(placeHome(place), { wishes: input, result: (document) => results.keep(document) });
}

/** The prompts and documents that the tools of a document may ask and run. */
export function documentCalls(place: DocumentPlace): DocumentWork["called"] {
  const { project, grants, accepted, catalog, canAsk } = place;
  return { place: () => ({ project, grants, accepted }), catalog, canAsk };
}
