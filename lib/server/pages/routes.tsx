// The pages, and what they load and post to.

import type { Route } from "../route.ts";
import { agentPage, agentsPage } from "./agents.tsx";
import { assetRoute } from "./asset_route.ts";
import { callsPage } from "./calls.tsx";
import { documentPage, documentsPage } from "./documents.tsx";
import { gadgetPage, gadgetsPage } from "./gadgets.tsx";
import { graphRoute } from "./graph.tsx";
import { modelsPage } from "./models.tsx";
import { overviewPage } from "./overview.tsx";
import { promptPage, promptsPage } from "./prompts.tsx";
import { runsPage } from "./runs.tsx";
import { startRoute } from "./start.ts";
import { viewRoutes } from "./view_routes.tsx";

/** All of them. */
export const pageRoutes: readonly Route[] = [
  overviewPage,
  agentsPage,
  agentPage,
  documentsPage,
  documentPage,
  callsPage,
  promptsPage,
  promptPage,
  gadgetsPage,
  gadgetPage,
  modelsPage,
  runsPage,
  ...viewRoutes,
  graphRoute,
  startRoute,
  assetRoute,
];
