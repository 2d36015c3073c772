import { together } from "../../_together.ts";

await together(import.meta.url);
