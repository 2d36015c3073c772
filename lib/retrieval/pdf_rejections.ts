// pdf.js looks up the first pages of a file ahead (`pageDictCache` of its catalog) and forgets those promises. Where a page is broken, one
// of them is rejected with nobody listening, which would end the process; the page itself is told about when it is read.

/** What its parser throws; the names are its own. */
const OF_PARSER = /^(?:FormatError|ParserEOFException|MissingDataException|XRef(?:Entry|Parse)Exception)$/;

/** Of the event loop, until all of them have been told of: one in Deno 2.9, two in 2.6. */
const TURNS = 3;

/** Lets what pdf.js forgets be, until it is disposed of: to be used around all work with one file. */
export function forgottenPromises(): AsyncDisposable {
  const onRejection = (event: PromiseRejectionEvent): void => {
    const { reason } = event;
    if (reason instanceof Error && OF_PARSER.test(reason.name)) event.preventDefault();
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  return {
    async [Symbol.asyncDispose]() {
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setTimeout(resolve));
      globalThis.removeEventListener("unhandledrejection", onRejection);
    },
  };
}
