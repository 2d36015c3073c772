import { quoted, typedForms, valueSource } from "./completion_words.ts";
import type { ValueSource } from "./completion_words.ts";
import { COMMANDS } from "./flags.ts";
import type { Argument, CommandSpec, Flag } from "./flags.ts";

/** The completion script for zsh 5: a file `_orrery` of `$fpath`, or sourced after `compinit`. */
export function zshCompletions(): string {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  return `#compdef orrery
# Completions of orrery for zsh: source <(orrery completions zsh), after compinit
_orrery_gadgets() { _orrery_names gadgets }
_orrery_models() { _orrery_names models }
_orrery_profiles() { _orrery_names profiles }
_orrery_prompts() { _orrery_names prompts }
_orrery_runs() { _orrery_names runs }
_orrery_files_or_prompts() { _alternative 'files:file:_files' 'prompts:prompt:_orrery_prompts' }
_orrery_shown() { _orrery_names \${line[1]}s }
_orrery_names() {
  local -a names
  names=(\${(f)"$(orrery list $1 --names 2>/dev/null)"})
  compadd -a names
}
_orrery_commands() {
  local -a commands
  commands=(
${specs.map((spec) => `    ${quoted(`${spec.name}:${spec.summary}`)}\n`).join("")}  )
  _describe -t commands command commands
}
_orrery() {
  if (( CURRENT == 2 )); then
    _orrery_commands
    _arguments '--help[Shows the commands.]' '--version[Prints the version.]'
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${specs.map(commandCase).join("")}  esac
}
if [[ $funcstack[1] == _orrery ]]; then
  _orrery "$@"
else
  compdef _orrery orrery
fi
`;
}

function commandCase(spec: CommandSpec): string {
  const lines = [...spec.flags.map(flagSpec), ...spec.arguments.map(wordSpec)];
  return `    ${spec.name})\n      _arguments -s -S \\\n${
    lines.map((line) => `        ${line}`).join(" \\\n")
  }\n      ;;\n`;
}

function flagSpec(flag: Flag): string {
  const help = `[${escaped(flag.help)}]`;
  const forms = typedForms(flag);
  const many = flag.kind === "list" || flag.kind === "texts" || flag.kind === "grant";
  const exclude = many ? "*" : `(${forms.join(" ")})`;
  return forms.map((form) => quoted(exclude + form + flagValueSpec(flag, form, help))).join(" ");
}

function flagValueSpec(flag: Flag, form: string, help: string): string {
  if (flag.kind === "switch") return help;
  const values = `${flag.value ?? "VALUE"}:${action(valueSource(flag))}`;
  if (flag.kind === "grant") {
    return `=-${help}::${flag.value}:${flag.value?.startsWith("PATH") ? "_files" : " "}`;
  }
  return `${form.startsWith("--") ? "=" : "+"}${help}:${values}`;
}

function wordSpec(argument: Argument, index: number): string {
  const place = argument.many === true ? "*:" : `${index + 1}${argument.required ? ":" : "::"}`;
  return quoted(`${place}${argument.name}:${action(valueSource(argument))}`);
}

function action(source: ValueSource): string {
  switch (source.kind) {
    case "choices":
      return `(${source.choices.join(" ")})`;
    case "file":
      return "_files";
    case "file-or-prompt":
      return "_orrery_files_or_prompts";
    case "shown":
      return "_orrery_shown";
    case "names":
      return `_orrery_${source.of}`;
    case "none":
      return " ";
    default:
      return source satisfies never;
  }
}

/** `:` and brackets end a part of a spec. */
function escaped(text: string): string {
  return text.replace(/[:[\]\\]/g, "\\$&");
}
