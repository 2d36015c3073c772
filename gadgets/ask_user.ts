import { type Gadget, type GadgetContext, onlyFields, type User, type World } from "../lib/core/core.ts";

interface Input {
  readonly question: string;
  readonly choices?: readonly string[];
  readonly default?: string;
}

/** People read, think and fetch coffee. */
const HOUR_MS = 3_600_000;
const MAX_ATTEMPTS = 10;

/** `AskUser`: a question to the person at the terminal, by `world.user`. */
export default function askUser(world: World): Gadget<Input> {
  return {
    name: "AskUser",
    description:
      "Asks the person at the terminal a question and returns the answer as text. Use it only for what cannot be " +
      "found out otherwise: a decision, a preference, a missing fact. One question at a time.",
    input: onlyFields({
      question: { type: "string", minLength: 1, description: "The question, in one or two sentences." },
      choices: {
        type: "array",
        items: { type: "string", minLength: 1 },
        minItems: 1,
        description:
          "The possible answers, when there are only these; the result is one of them, exactly as given here.",
      },
      default: {
        type: "string",
        description:
          "The answer when the person just presses Enter, or when nobody can be asked. One of the choices, if any.",
      },
    }, ["question"]),
    output: { type: "string" },
    idempotent: true,
    repeatable: false,
    timeoutMs: HOUR_MS,
    // One terminal, one question.
    maxConcurrent: 1,
    examples: [
      { input: { question: "Which branch shall I release?", default: "main" } },
      { input: { question: "Overwrite the old report?", choices: ["yes", "no"], default: "no" } },
    ],
    run: (input, context) => ask(world.user, input, context),
  };
}

async function ask(user: User, input: Input, { signal, log }: GadgetContext): Promise<string> {
  const { question, choices, default: fallback } = input;
  if (fallback !== undefined && choices?.includes(fallback) === false) {
    throw new Error(`The default ${quote(fallback)} is none of the choices ${choices.map(quote).join(", ")}`);
  }
  if (!user.canAnswer) return answerWithoutUser(question, fallback);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const typed = await askOnce(user, input, signal);
    const answer = typed.trim() === "" ? fallback ?? typed : typed;
    const choice = choices === undefined ? answer : choiceOf(answer, choices);
    if (choice !== undefined) return choice;
    log(`${quote(answer)} is none of the choices ${choices?.map(quote).join(", ")}`);
  }
  throw new Error(`No answer to ${quote(question)}: none of ${MAX_ATTEMPTS} answers was one of the choices`);
}

/** With choices the user is asked until one of them is typed, and Enter would never give the default: so it asks for text then. */
function askOnce(user: User, input: Input, signal: AbortSignal): Promise<string> {
  const { question, choices, default: fallback } = input;
  if (fallback === undefined) return user.ask(question, { choices, signal });
  const list = choices === undefined ? "" : ` [${choices.join("/")}]`;
  return user.ask(`${question}${list} (Enter: ${fallback})`, { signal });
}

function answerWithoutUser(question: string, fallback: string | undefined): string {
  if (fallback !== undefined) return fallback;
  throw new Error(
    `Cannot ask ${
      quote(question)
    }: nobody is at a terminal to answer; give a "default", or run it in a terminal`,
  );
}

/** As written, else the only one that it is or begins, case ignored, else by its number in the list. */
function choiceOf(answer: string, choices: readonly string[]): string | undefined {
  const typed = answer.trim().toLowerCase();
  if (choices.includes(answer)) return answer;
  if (typed === "") return undefined;
  const alike = choices.filter((choice) => choice.toLowerCase() === typed);
  const begun = choices.filter((choice) => choice.toLowerCase().startsWith(typed));
  const fitting = alike.length > 0 ? alike : begun;
  if (fitting.length === 1) return fitting[0];
  return /^[1-9][0-9]*$/.test(typed) ? choices[Number(typed) - 1] : undefined;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
