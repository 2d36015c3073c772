/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

// The form that starts something: what is wrong is said beside its field, and nothing that was typed is lost. Without this module the
// browser posts it, and goes where the server says.

import { el, findAll, maybeFind } from "./dom.ts";
import { isRecord } from "../core/json.ts";
import { answerOf, postJson, type ServerAnswer } from "./server_calls.ts";

const PREFIX = "in:";

/** What is wrong with a field. */
interface FieldProblem {
  readonly pointer: string;
  readonly message: string;
}

const form = maybeFind("form[data-run-form]", HTMLFormElement);

if (form !== undefined) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("input", (event) => {
    if (event.target instanceof HTMLElement) clear(event.target);
  });
  const render = maybeFind("[data-render]", HTMLButtonElement, form);
  if (render !== undefined) {
    render.hidden = false;
    render.addEventListener("click", () => void showText(form, render.dataset.render ?? ""));
  }
}

async function send(form: HTMLFormElement): Promise<void> {
  const wrong = missing(form);
  tell(form, []);
  if (wrong.length > 0) return tell(form, wrong);
  await busy(form, async () => {
    const headers = { accept: "application/json, application/problem+json" };
    const body = new URLSearchParams(texts(form));
    const answer = await answerOf(fetch(form.action, { method: "POST", headers, body }));
    if (typeof answer.value.url === "string") await leave(answer.value.url);
    else refuse(form, answer);
  });
}

/** Goes there. It stays busy until then, so that nothing is started twice; when the reader comes back it is as it was. */
async function leave(url: string): Promise<void> {
  const isBack = new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
  location.assign(url);
  await isBack;
}

/** What is said of the fields that need a value and have none. */
function missing(form: HTMLFormElement): readonly FieldProblem[] {
  if (maybeFind("[name=json]", HTMLTextAreaElement, form)?.value.trim()) return [];
  return controls(form)
    .filter((control) => control.required && control.value.trim() === "")
    .map(({ name }) => ({ pointer: name.slice(PREFIX.length), message: "needs a value" }));
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function controls(form: HTMLFormElement): readonly Control[] {
  return [
    ...findAll("input", HTMLInputElement, form),
    ...findAll("textarea", HTMLTextAreaElement, form),
    ...findAll("select", HTMLSelectElement, form),
  ];
}

function texts(form: HTMLFormElement): [string, string][] {
  return [...new FormData(form)].flatMap(([name, value]): [string, string][] =>
    typeof value === "string" ? [[name, value]] : []
  );
}

function refuse(form: HTMLFormElement, answer: ServerAnswer): void {
  const detail = answer.ok ? "" : answer.problem;
  const { fields: all } = answer.value;
  const fields = Array.isArray(all) ? all.filter((each) => isRecord(each)).flatMap(fieldProblem) : [];
  const placed = fields.filter(({ pointer }) => controlOf(form, pointer) !== undefined);
  tell(form, placed);
  if (fields.length === 0 && isOfModel(form, detail)) return;
  const box = maybeFind("[data-form-problem]", HTMLElement, form);
  if (box === undefined || (placed.length > 0 && placed.length === fields.length)) return;
  box.hidden = false;
  box.replaceChildren(el("pre", {}, detail || "It could not be started"));
}

function fieldProblem({ pointer, message }: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  return typeof pointer === "string" ? [{ pointer, message: String(message) }] : [];
}

/** A problem that names the model that was typed stands beside it. */
function isOfModel(form: HTMLFormElement, detail: string): boolean {
  const model = maybeFind("input[name=model]", HTMLInputElement, form);
  const typed = model?.value.trim() ?? "";
  if (model === undefined || typed === "" || !detail.includes(typed)) return false;
  markWrong(model, detail);
  model.focus();
  return true;
}

/** Says at each field what is wrong with it, and leads to the first. */
function tell(form: HTMLFormElement, problems: readonly FieldProblem[]): void {
  for (const control of controls(form)) clear(control);
  const box = maybeFind("[data-form-problem]", HTMLElement, form);
  if (box !== undefined) box.hidden = true;
  for (const { pointer, message } of problems) {
    const control = controlOf(form, pointer);
    if (control === undefined) continue;
    markWrong(control, message);
  }
  const [first] = problems;
  if (first !== undefined) controlOf(form, first.pointer)?.focus();
}

function markWrong(control: Control, message: string): void {
  const wrong = document.getElementById(`${control.id}-wrong`);
  if (wrong === null) return;
  wrong.hidden = false;
  wrong.textContent = message;
  control.setAttribute("aria-invalid", "true");
}

function clear(control: HTMLElement): void {
  control.removeAttribute("aria-invalid");
  const wrong = document.getElementById(`${control.id}-wrong`);
  if (wrong === null) return;
  wrong.hidden = true;
  wrong.textContent = ""; // else it would be read out with its field
}

/** The field of a pointer, or the nearest one around it: a list is one field. */
function controlOf(form: HTMLFormElement, pointer: string): Control | undefined {
  const all = controls(form);
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = all.find(({ name }) => name === PREFIX + at);
    if (found !== undefined) return found;
  }
  return all.find(({ name, value }) => name === "json" && value.trim() !== "");
}

async function busy(form: HTMLFormElement, work: () => Promise<void>): Promise<void> {
  const status = maybeFind("[data-form-status]", HTMLElement, form);
  const button = maybeFind("button[type=submit]", HTMLButtonElement, form);
  if (status !== undefined) status.textContent = "Starting\u2026";
  if (button !== undefined) button.disabled = true;
  try {
    await work();
  } finally {
    if (status !== undefined) status.textContent = "";
    if (button !== undefined) button.disabled = false;
  }
}

/** The text of a prompt with the values of the form, as a model gets it. */
async function showText(form: HTMLFormElement, path: string): Promise<void> {
  const input = Object.fromEntries(
    texts(form).flatMap(([name, value]) =>
      name.startsWith(PREFIX) && value !== "" ? [[pointerName(name), value]] : []
    ),
  );
  const answer = await postJson(`${path}/render`, { input });
  const { text } = answer.value;
  const section = maybeFind("[data-rendered-section]");
  const shown = maybeFind("[data-rendered]");
  if (typeof text !== "string" || section === undefined || shown === undefined) return refuse(form, answer);
  tell(form, []);
  section.hidden = false;
  shown.textContent = text;
  section.scrollIntoView({ block: "nearest" });
}

/** Variables of a prompt stand at the top of its input. */
function pointerName(name: string): string {
  return name.slice(PREFIX.length + 1).replaceAll("~1", "/").replaceAll("~0", "~");
}
