// The process of a gadget with the stand-in facades.

import { serveGadget } from "../lib/sandbox/inside/inside.ts";
import { makeFacades } from "./_gadget_facade.ts";

await serveGadget(makeFacades);
