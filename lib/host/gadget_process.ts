// The process of a gadget under `deno run`: started with this module. In the binary the program's own first look does it (lib/cli/main.ts).

import { makeFacades } from "./gadget_facade.ts";
import { serveGadget as serve } from "./serve_gadget.ts";

/** Serves one gadget until Orrery ends it. */
export function serveGadget(): Promise<never> {
  return serve(makeFacades);
}

if (import.meta.main) await serveGadget();
