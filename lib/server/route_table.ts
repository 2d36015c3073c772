// Every route there is. What is not in this table is not there: Hono is told of nothing else.

import { docsPage } from "./docs.tsx";
import { mcpRoutes } from "./mcp/routes.ts";
import { openAiRoutes } from "./openai/routes.ts";
import { pageRoutes } from "./pages/routes.tsx";
import type { Route } from "./route.ts";
import { callRoutes } from "./routes/calls.ts";
import { catalogRoutes } from "./routes/catalog.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { gadgetRoutes } from "./routes/gadgets.ts";
import { healthRoutes } from "./routes/health.ts";
import { linkRoutes } from "./routes/links.ts";
import { loginRoutes } from "./routes/login.tsx";
import { openapiRoutes } from "./routes/openapi.ts";
import { promptRoutes } from "./routes/prompts.ts";
import { runRoutes } from "./routes/run.ts";
import { runsRoutes } from "./routes/runs.ts";

/** The table. */
export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...catalogRoutes,
  ...runsRoutes,
  ...runRoutes,
  ...conversationRoutes,
  ...promptRoutes,
  ...callRoutes,
  ...gadgetRoutes,
  ...openAiRoutes,
  ...mcpRoutes,
  ...linkRoutes,
  ...loginRoutes,
  ...openapiRoutes(() => ROUTES),
  docsPage(() => ROUTES),
  ...pageRoutes,
];
