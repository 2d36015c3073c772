/** What a `fetch` is called with and gives; the platform's own is one. */
export type FetchFunction = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;
