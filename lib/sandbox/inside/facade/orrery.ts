import { frozenCopy, isPlainObject } from "../../../core/frozen_copy.ts";
import { GADGET_NAME } from "../../../core/gadget.ts";
import { GADGET_FIELDS, isGadgetField } from "../../../core/gadget_fields.ts";
import { isRecord } from "../../../core/json.ts";
import { PromptError } from "../../../core/prompt_error.ts";

/** `orrery` inside a gadget. Types are gone by then; what else the package has is for programs, and is not here. */
export function orreryFacade(): Readonly<Record<string, unknown>> {
  return { defineGadget };
}

/** What a gadget takes that says nothing of it. */
const NO_ARGUMENTS = frozenCopy({ type: "object", properties: {}, additionalProperties: false });

/** The same frozen copy as `defineGadget` of the package gives. What its fields hold is checked by Orrery when the module is described. */
function defineGadget(definition: unknown): Readonly<Record<string, unknown>> {
  const fields = fieldsOf(definition);
  const { input = NO_ARGUMENTS, ...rest } = fields;
  const gadget: Readonly<Record<string, unknown>> = Object.freeze({
    description: "",
    permissions: Object.freeze({}),
    ...frozenCopy(rest),
    input: isStandard(input) ? input : frozenCopy(input),
    kind: "gadget",
    linked: fields.run !== undefined,
    link: (run: unknown) => {
      if (typeof run === "function") return defineGadget({ ...fields, run });
      throw new PromptError(`gadget ${JSON.stringify(fields.name)}: cannot link what is not a function`, {
        code: "define",
      });
    },
  });
  return gadget;
}

function fieldsOf(definition: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(definition)) {
    throw new PromptError("defineGadget takes an object with name, description, input and run", {
      code: "define",
    });
  }
  const { name } = definition;
  if (typeof name !== "string" || !GADGET_NAME.test(name)) {
    const found = typeof name === "string" ? JSON.stringify(name) : `a value of type ${typeof name}`;
    throw new PromptError(
      `gadget name must be text such as FetchPage that matches [A-Za-z_][A-Za-z0-9_-]{0,63}, found ${found}`,
      {
        code: "define",
      },
    );
  }
  const isPlain = isPlainObject(definition);
  const unknown = Object.keys(definition).find((field) => !isGadgetField(field, definition));
  if (unknown !== undefined) {
    throw new PromptError(
      `gadget "${name}": unknown key ${JSON.stringify(unknown)}; known are ${GADGET_FIELDS.join(", ")}`,
      {
        code: "define",
      },
    );
  }
  return Object.fromEntries(GADGET_FIELDS.flatMap((field) => {
    const value = field === "name" ? name : definition[field];
    if (value === undefined) return [];
    return [[field, typeof value === "function" && !isPlain ? value.bind(definition) : value]];
  }));
}

function isStandard(schema: unknown): boolean {
  return (typeof schema === "object" || typeof schema === "function") && schema !== null &&
    "~standard" in schema;
}
