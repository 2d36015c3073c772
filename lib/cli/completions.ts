import type { Terminal } from "../host/terminal/terminal.ts";
import { EXIT } from "../service/exit_code.ts";
import { type Argument, COMMANDS, type CommandSpec, type Flag, type ParsedCommand } from "./flags/flags.ts";
import { TOPICS } from "./help.ts";

/** `orrery completions SHELL`. */
export async function completions(
  { words }: ParsedCommand<typeof COMMANDS.completions>,
  terminal: Terminal,
): Promise<number> {
  await terminal.stdout.write(scriptFor(words[0] ?? ""));
  return EXIT.ok;
}

function scriptFor(shell: string): string {
  if (shell === "zsh") return zshCompletions();
  if (shell === "fish") return fishCompletions();
  return shell === "powershell" ? powershellCompletions() : bashCompletions();
}

/** The completion script for PowerShell 5.1 and later; files are completed by PowerShell itself. */
function powershellCompletions(): string {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  return `# Completions of orrery for PowerShell: orrery completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName orrery -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = @{
${specs.map(commandTable).join("")}  }
  $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  if ($typed.Count -le 1) {
    $found = @(${list([...specs.map((spec) => spec.name), "--help", "--version"])})
  } else {
    $command = $commands[$typed[1]]
    if ($null -eq $command) { return }
    $last = $typed[-1]
    if ($command.Values.ContainsKey($last)) {
      $found = & $command.Values[$last]
    } elseif ($wordToComplete.StartsWith('-')) {
      $found = $command.Flags
    } else {
      $at = 0
      for ($i = 2; $i -lt $typed.Count; $i++) {
        if ($command.Values.ContainsKey($typed[$i])) { $i++ } elseif (-not $typed[$i].StartsWith('-')) { $word = $typed[$i]; $at++ }
      }
      if ($command.Many) { $at = [Math]::Min($at, $command.Words.Count - 1) }
      $found = if ($at -lt $command.Words.Count) { & $command.Words[$at] } else { @() }
    }
  }
  $found | Where-Object { $_ -and $_.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

function commandTable(spec: CommandSpec): string {
  const values = flagsWithNextWord(spec).flatMap((flag) =>
    typedForms(flag).map((form) => `        '${form}' = ${valueOf(POWERSHELL, flag)}\n`)
  );
  const words = spec.arguments.map((argument) => valueOf(POWERSHELL, argument));
  return `    '${spec.name}' = @{
      Flags = @(${list(spec.flags.flatMap(typedForms))})
      Values = @{
${values.join("")}      }
      Words = @(${words.join(", ")})
      Many = $${spec.arguments.at(-1)?.many === true}
    }
`;
}

/** Words of the table: letters, digits and dashes only. */
function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}

/** The completion script for fish 3 and later. */
function fishCompletions(): string {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  return `# Completions of orrery for fish: orrery completions fish | source
function __orrery_at --description 'the command, how many of its words are there, and its flags that take the next one'
  set -l words (commandline -opc)
  test (count $words) -ge 2; and test $words[2] = $argv[1]; or return 1
  set -l at 0
  set -l taking no
  for word in $words
    if test $taking = yes
      set taking no
    else if contains -- $word $argv[3..]
      set taking yes
    else if not string match -q -- '-*' $word
      set at (math $at + 1)
    end
  end
  test (math $at - 2) -eq $argv[2]
end
function __orrery_in --description 'the command'
  set -l words (commandline -opc)
  test (count $words) -ge 2; and test $words[2] = $argv[1]
end
function __orrery_shown --description 'the names of the kind that is to be shown'
  set -l words (commandline -opc)
  for word in $words[3..]
    if not string match -q -- '-*' $word
      orrery list {$word}s --names 2>/dev/null
      return
    end
  end
end
complete -c orrery -f
complete -c orrery -n __fish_use_subcommand -s V -l version -d 'Prints the version.'
complete -c orrery -n __fish_use_subcommand -s h -l help -d 'Shows the commands.'
${specs.map(commandLines).join("")}`;
}

function commandLines(spec: CommandSpec): string {
  const lines = [
    `complete -c orrery -n __fish_use_subcommand -a ${spec.name} -d ${fishQuoted(spec.summary)}`,
    ...spec.flags.map((flag) => `complete -c orrery -n '__orrery_in ${spec.name}'${flagOptions(flag)}`),
    ...spec.arguments.map((argument, index) => wordLine(spec, argument, index)),
  ];
  return `${lines.join("\n")}\n`;
}

function flagOptions(flag: Flag): string {
  const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
  const text = `${short} -l ${flag.name} -d ${fishQuoted(flag.help)}`;
  if (flag.kind === "switch") return text;
  if (flag.kind === "grant") return grantsFiles(flag) ? `${text} -F` : text;
  return `${text} -r${valueOf(FISH, flag)}`;
}

function wordLine(spec: CommandSpec, argument: Argument, index: number): string {
  const taking = flagsWithNextWord(spec).flatMap(typedForms);
  const place = argument.many === true
    ? ["__orrery_in", spec.name]
    : ["__orrery_at", spec.name, index, ...taking];
  return `complete -c orrery -n '${place.join(" ")}'${valueOf(FISH, argument)}`;
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

/** The completion script for zsh 5: a file `_orrery` of `$fpath`, or sourced after `compinit`. */
function zshCompletions(): string {
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
  const values = `${flag.value ?? "VALUE"}:${valueOf(ZSH, flag)}`;
  if (flag.kind === "grant") {
    return `=-${help}::${flag.value}:${flag.value?.startsWith("PATH") ? "_files" : " "}`;
  }
  return `${form.startsWith("--") ? "=" : "+"}${help}:${values}`;
}

function wordSpec(argument: Argument, index: number): string {
  const place = argument.many === true ? "*:" : `${index + 1}${argument.required ? ":" : "::"}`;
  return quoted(`${place}${argument.name}:${valueOf(ZSH, argument)}`);
}

/** `:` and brackets end a part of a spec. */
function escaped(text: string): string {
  return text.replace(/[:[\]\\]/g, "\\$&");
}

/** The completion script for bash 3.2 and later. */
function bashCompletions(): string {
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
${specs.map(bashCase).join("")}  esac
}
complete -F _orrery orrery
`;
}

function bashCase(spec: CommandSpec): string {
  const taking = flagsWithNextWord(spec);
  const forms = taking.flatMap(typedForms);
  const values = taking.map((flag) =>
    `        ${typedForms(flag).join("|")}) ${valueOf(BASH, flag)}; return;;\n`
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
      `        ${argument.many === true ? "*" : index}) ${valueOf(BASH, argument)};;\n`
    ).join("")
  }        *) ;;
      esac
      ;;
`;
}

/** Words of the table: letters, digits and dashes only. */
function doubleQuoted(words: readonly string[]): string {
  return `"${words.join(" ")}"`;
}

/** The forms of a flag as they are typed: `--output`, `-o`. */
function typedForms(flag: Flag): string[] {
  return [`--${flag.name}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])];
}

/** Flags whose value is the next word; a grant has its list behind `=` only. */
function flagsWithNextWord(spec: CommandSpec): Flag[] {
  return spec.flags.filter((flag) => flag.kind !== "switch" && flag.kind !== "grant");
}

/** How a shell says where values come from. */
interface Values {
  choices(words: readonly string[]): string;
  readonly file: string;
  readonly fileOrPrompt: string;
  /** Names of the kind that the word before says, as `orrery show` takes them. */
  readonly shown: string;
  /** Names that the program lists: `orrery list KIND --names`. @param kind such as `gadgets` */
  names(kind: string): string;
  readonly none: string;
}

const POWERSHELL: Values = {
  choices: (words) => `{ ${list(words)} }`,
  file: "{ }",
  fileOrPrompt: "{ orrery list prompts --names 2>$null }",
  shown: '{ orrery list "${word}s" --names 2>$null }',
  names: (kind) => `{ orrery list ${kind} --names 2>$null }`,
  none: "{ }",
};

const FISH: Values = {
  choices: (words) => ` -f -a ${fishQuoted(words.join(" "))}`,
  file: " -F",
  fileOrPrompt: " -F -a '(orrery list prompts --names 2>/dev/null)'",
  shown: " -f -a '(__orrery_shown)'",
  names: (kind) => ` -f -a '(orrery list ${kind} --names 2>/dev/null)'`,
  none: " -f",
};

const ZSH: Values = {
  choices: (words) => `(${words.join(" ")})`,
  file: "_files",
  fileOrPrompt: "_orrery_files_or_prompts",
  shown: "_orrery_shown",
  names: (kind) => `_orrery_${kind}`,
  none: " ",
};

const BASH: Values = {
  choices: (words) => `_orrery_words ${doubleQuoted(words)}`,
  file: "_orrery_files",
  fileOrPrompt: "_orrery_files; _orrery_names prompts",
  shown: '_orrery_names "${word}s"',
  names: (kind) => `_orrery_names ${kind}`,
  none: ":",
};

/** Where the values of a flag or a word come from. */
function valueOf(shell: Values, { choices, names }: Pick<Flag | Argument, "choices" | "names">): string {
  if (choices !== undefined) return shell.choices(choices);
  if (names === undefined) return shell.none;
  if (names === "file" || names === "shown") return shell[names];
  if (names === "file-or-prompt") return shell.fileOrPrompt;
  return names === "help"
    ? shell.choices([...Object.keys(COMMANDS), ...Object.keys(TOPICS)])
    : shell.names(`${names}s`);
}

/** Whether the list behind a grant's `=` names files. */
function grantsFiles(flag: Flag): boolean {
  return flag.kind === "grant" && (flag.value ?? "").startsWith("PATH");
}

/** A text in single quotes, as bash, zsh and the like read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
