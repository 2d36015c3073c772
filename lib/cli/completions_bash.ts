import { COMMANDS } from "./flags.ts";
import type { CommandSpec } from "./flags.ts";
import { flagsWithNextWord, grantsFiles, typedForms, valueSource } from "./completion_words.ts";
import type { ValueSource } from "./completion_words.ts";

/** The completion script for bash 3.2 and later. */
export function bashCompletions(): string {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  return `# Completions of orrery for bash: source <(orrery completions bash)
# Names are compared, never given to compgen -W: that would expand a name such as $(rm).
_orrery_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=( $(compgen -f -- "$cur") )
}
_orrery_names() {
  local name
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] && COMPREPLY+=( "$name" )
  done < <("\${COMP_WORDS[0]}" list "$1" --names 2>/dev/null)
}
_orrery_words() {
  COMPREPLY=( $(compgen -W "$1" -- "$cur") )
}
_orrery() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} equals= taking= word= at=0 i
  COMPREPLY=()
  if [[ $cur == "=" ]]; then
    cur= equals=1
  elif [[ $prev == "=" ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]} equals=1
  fi
  if (( COMP_CWORD == 1 )); then
    _orrery_words ${doubleQuoted([...specs.map((spec) => spec.name), "--help", "--version"])}
    return
  fi
  case \${COMP_WORDS[1]} in
${specs.map(commandCase).join("")}  esac
}
complete -F _orrery orrery
`;
}

function commandCase(spec: CommandSpec): string {
  const taking = flagsWithNextWord(spec);
  const forms = taking.flatMap(typedForms);
  const values = taking.map((flag) =>
    `        ${typedForms(flag).join("|")}) ${action(valueSource(flag))}; return;;\n`
  );
  const grants = spec.flags.filter(grantsFiles).flatMap(typedForms);
  const grantCase = grants.length === 0
    ? ""
    : `        ${grants.join("|")}) [[ $equals ]] && { _orrery_files; return; };;\n`;
  return `    ${spec.name})
      for (( i = 2; i < COMP_CWORD; i++ )); do
        if [[ $taking ]]; then taking=
        else
          case \${COMP_WORDS[i]} in
            ${forms.length === 0 ? "" : `${forms.join("|")}) taking=1;;\n            `}-?*|=) ;;
            *) word=\${COMP_WORDS[i]}; (( at++ ));;
          esac
        fi
      done
      case $prev in
${values.join("")}${grantCase}        *) ;;
      esac
      if [[ $cur == -* ]]; then
        _orrery_words ${doubleQuoted(spec.flags.flatMap(typedForms))}
        return
      fi
      case $at in
${
    spec.arguments.map((argument, index) =>
      `        ${argument.many === true ? "*" : index}) ${action(valueSource(argument))};;\n`
    ).join("")
  }        *) ;;
      esac
      ;;
`;
}

function action(source: ValueSource): string {
  switch (source.kind) {
    case "choices":
      return `_orrery_words ${doubleQuoted(source.choices)}`;
    case "file":
      return "_orrery_files";
    case "file-or-prompt":
      return "_orrery_files; _orrery_names prompts";
    case "shown":
      return '_orrery_names "${word}s"';
    case "names":
      return `_orrery_names ${source.of}`;
    case "none":
      return ":";
    default:
      return source satisfies never;
  }
}

/** Words of the table: letters, digits and dashes only. */
function doubleQuoted(words: readonly string[]): string {
  return `"${words.join(" ")}"`;
}
