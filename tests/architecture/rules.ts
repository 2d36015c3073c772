// The rules of the project's shape, each a function from its files to what is wrong with them, so that a test can feed
// each rule a small false project and see it speak.

import { EXPORT_RULES } from "./export_rules.ts";
import { IMPORT_RULES } from "./import_rules.ts";
import type { Rule } from "./project.ts";
import { TEXT_RULES } from "./text_rules.ts";

/** All rules by name. */
export const RULES: Readonly<Record<string, Rule>> = { ...IMPORT_RULES, ...TEXT_RULES, ...EXPORT_RULES };
