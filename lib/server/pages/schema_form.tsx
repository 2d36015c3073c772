import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { EFFORTS, type JsonObject } from "../../core/core.ts";
import { type FormField, formFields } from "./form_fields.ts";
import { Sentence } from "./parts.tsx";

/** The names of a form's fields begin with it; what follows is the pointer into the value. */
export const FIELD_PREFIX = "in:";

/** What is started, and what the form for it has. */
export interface StartFormParts {
  readonly kind: "file" | "prompt" | "tactic" | "gadget" | "agent";
  /** Of what is started. */
  readonly name: string;
  /** Of its input; absent: it takes any object. */
  readonly schema?: JsonObject;
  readonly title?: string;
  readonly button?: string;
  /** Further buttons. */
  readonly more?: Child;
  /** A field for what is said to it: its label, and a hint. */
  readonly say?: readonly [label: string, hint: string];
  /** Further fields. */
  readonly fields?: Child;
  /** The hint of a field for the model that is asked; absent: there is no such field. */
  readonly model?: string;
}

/**
 * A form that starts something. It is posted to `/start` as it is; the module `form` shows what is wrong beside the fields.
 *
 * @param models what can be asked
 */
export function StartForm(
  { kind, name, schema, title = "Run it", button = "Run", more, say, fields, model, models }:
    & StartFormParts
    & { readonly models: readonly string[] },
): JSX.Element {
  return (
    <form
      class="form panel"
      method="post"
      action="/start"
      data-run-form
      aria-labelledby="start-title"
      novalidate
    >
      <h2 id="start-title">{title}</h2>
      <input type="hidden" name="kind" value={kind} />
      <input type="hidden" name="name" value={name} />
      <SchemaFields schema={schema} />
      {say && <TextField name="say" label={say[0]} hint={say[1]} />}
      {fields}
      {model !== undefined && <ModelField models={models} hint={model} />}
      {model !== undefined && <EffortField />}
      <label class="check">
        <input type="checkbox" name="ask" value="yes" checked />
        <span>Ask me about what is not granted; otherwise it is refused</span>
      </label>
      <div class="note" data-tone="bad" role="alert" data-form-problem hidden></div>
      <div class="submit">
        <button type="submit" class="main">{button}</button>
        {more}
        <span class="small soft" role="status" data-form-status></span>
      </div>
    </form>
  );
}

/** Of what takes no input. */
export const NO_INPUT = { type: "object", properties: {} };

/** Fields for what a schema describes, or one for JSON. */
function SchemaFields({ schema }: { readonly schema: JsonObject | undefined }): JSX.Element | null {
  const fields = schema && formFields(schema);
  if (fields === undefined) return <JsonInput label="Input as JSON" hint="A JSON object" />;
  if (fields.length === 0) return null;
  return (
    <>
      {fields.map((field) => <Field field={field} />)}
      <details>
        <summary class="small soft">Write it as JSON instead</summary>
        <JsonInput label="Input as JSON" hint="When this is filled in, the fields above are not looked at" />
      </details>
    </>
  );
}

/** A field with its label, what is to be known of it, and what is wrong with it, once something is. */
function Labelled({ id, label, hint, children }: {
  readonly id: string;
  readonly label: Child;
  readonly hint?: Child;
  readonly children?: Child;
}): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint !== undefined && <p class="hint" id={`${id}-hint`}>{hint}</p>}
      <p class="wrong" id={`${id}-wrong`} hidden></p>
    </div>
  );
}

/** How a field is known that has a hint. */
function known(id: string, name = id) {
  return { id, name, "aria-describedby": `${id}-hint ${id}-wrong` };
}

/** A field that takes a whole input as JSON. */
export function JsonInput(
  { label, hint }: { readonly label: string; readonly hint: string },
): JSX.Element {
  return (
    <Labelled id="json" label={label} hint={hint}>
      <textarea {...known("json")} class="code tall" rows={4} spellcheck={false} placeholder="{}"></textarea>
    </Labelled>
  );
}

function Field({ field }: { readonly field: FormField }): JSX.Element {
  if (field.kind === "group") {
    return (
      <fieldset class="field group">
        <legend>
          <Label field={field} />
        </legend>
        {field.description !== "" && <p class="hint">{field.description}</p>}
        {field.fields.map((each) => <Field field={each} />)}
      </fieldset>
    );
  }
  const id = idOf(field);
  return (
    <Labelled
      id={id}
      label={<Label field={field} />}
      hint={field.description === "" ? undefined : <Sentence text={field.description} />}
    >
      <Control field={field} />
    </Labelled>
  );
}

function Label({ field: { label, type, isRequired } }: { readonly field: FormField }): JSX.Element {
  return (
    <>
      <code>{label}</code> <span class="type">{type}{isRequired ? "" : ", optional"}</span>
    </>
  );
}

function Control({ field }: { readonly field: Exclude<FormField, { readonly kind: "group" }> }): JSX.Element {
  const id = idOf(field);
  const common = {
    id,
    name: `${FIELD_PREFIX}${field.pointer}`,
    required: field.isRequired,
    "aria-describedby": field.description === "" ? `${id}-wrong` : `${id}-hint ${id}-wrong`,
  };
  const value = field.default;
  switch (field.kind) {
    case "choice":
      return (
        <select {...common}>
          {value === "" && <option value="">{field.isRequired ? "choose" : "not given"}</option>}
          {field.choices.map((choice) => <option value={choice} selected={choice === value}>{choice}
          </option>)}
        </select>
      );
    case "number":
      return (
        <input
          {...common}
          type="number"
          step={field.isInteger ? 1 : "any"}
          min={field.min}
          max={field.max}
          value={value}
        />
      );
    case "json":
      return <textarea {...common} class="code" rows={2} spellcheck={false}>{value}</textarea>;
    case "lines":
      return <textarea {...common} rows={2}>{value}</textarea>;
    case "text":
      return field.isLong
        ? <textarea {...common} rows={1}>{value}</textarea>
        : <input {...common} type="text" value={value} />;
    default:
      return field satisfies never;
  }
}

/** An id that a selector can hold. */
function idOf({ pointer }: FormField): string {
  return `in${pointer.replaceAll(/[^\w-]/g, "_")}`;
}

function ModelField({ models, hint }: {
  readonly models: readonly string[];
  readonly hint: string;
}): JSX.Element {
  return (
    <Labelled id="model" label="Model" hint={hint}>
      <input {...known("model")} class="code" list="models" autocomplete="off" spellcheck={false} />
      <datalist id="models">{models.map((id) => <option value={id}></option>)}</datalist>
    </Labelled>
  );
}

function EffortField(): JSX.Element {
  return (
    <Labelled id="effort" label="Effort" hint="How hard models think">
      <select {...known("effort")}>
        <option value="">as files and profiles say</option>
        {EFFORTS.map((effort) => <option>{effort}</option>)}
      </select>
    </Labelled>
  );
}

/** A text that is said or asked besides the input. */
export function TextField({ name, label, hint }: {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
}): JSX.Element {
  return (
    <Labelled
      id={name}
      label={
        <>
          {label} <span class="type">optional</span>
        </>
      }
      hint={hint}
    >
      <textarea {...known(name)} rows={1}></textarea>
    </Labelled>
  );
}
