import type { Route } from "../route.ts";
import { asksPage } from "./asks.tsx";
import { comparePage } from "./compare.tsx";
import { conversationPage } from "./conversation.tsx";
import { runPage } from "./run.tsx";
import { traceFileRoute, traceRunPage } from "./trace.tsx";

/** Pages of what was run: runs, traces, conversations, comparisons, questions. */
export const viewRoutes: readonly Route[] = [
  runPage,
  traceRunPage,
  traceFileRoute,
  conversationPage,
  comparePage,
  asksPage,
];
