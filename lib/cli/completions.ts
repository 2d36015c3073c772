// Completions of shells. The script of a shell says nothing about commands and flags: at each Tab it asks `orrery complete`, which knows them from
// the table of the command line and from the project.
import { KINDS } from "../service/kinds/kinds.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { EXIT } from "../service/exit_code.ts";
import {
  type Argument,
  COMMANDS,
  type CommandSpec,
  type Flag,
  type ParsedCommand,
  TOPICS,
} from "./flags/flags.ts";
import { argumentAt, flagOf, parseFlags, typedForms } from "./flags/parse.ts";

/** `orrery completions SHELL`. */
export async function completions(
  { words }: ParsedCommand<typeof COMMANDS.completions>,
  terminal: Terminal,
): Promise<number> {
  await terminal.stdout.write(SCRIPTS[words[0] ?? ""] ?? "");
  return EXIT.ok;
}

/** For bash 3.2, zsh 5, fish 3, PowerShell 5.1 and later. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# Completions of orrery for bash: source <(orrery completions bash)
# Names are compared, never given to compgen -W: that would expand a name such as $(rm).
_orrery() {
  local cur=\${COMP_WORDS[COMP_CWORD]} line IFS=$'\\n'
  COMPREPLY=()
  while read -r line; do
    line=\${line%%$'\\t'*}
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=( $(compgen -f -- "\${cur#=}") )
    elif [[ $line == "\${cur#=}"* ]]; then
      COMPREPLY+=( "$line" )
    fi
  done < <("\${COMP_WORDS[0]}" complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" ":$cur" 2>/dev/null)
}
complete -F _orrery orrery
`,
  zsh: `#compdef orrery
# Completions of orrery for zsh: source <(orrery completions zsh), after compinit
_orrery() {
  local line
  local -a offers
  for line in \${(f)"$($words[1] complete "\${(@Q)words[2,CURRENT-1]}" ":\${(Q)words[CURRENT]}" 2>/dev/null)"}; do
    if [[ $line == :files ]]; then
      compset -P '--*='
      _files
    else
      offers+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  _describe -t offers offer offers
}
if [[ $funcstack[1] == _orrery ]]; then
  _orrery "$@"
else
  compdef _orrery orrery
fi
`,
  fish: `# Completions of orrery for fish: orrery completions fish | source
function __orrery_offers --description 'what may stand at the cursor'
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  for offer in (orrery complete $words ":$current" 2>/dev/null)
    if test "$offer" = :files
      set -l flag (string match -r '^--[^=]+=' -- "$current")
      for path in (__fish_complete_path (string replace -r '^--[^=]+=' '' -- "$current"))
        echo "$flag$path"
      end
    else
      echo $offer
    end
  end
end
complete -c orrery -f -a '(__orrery_offers)'
`,
  powershell:
    `# Completions of orrery for PowerShell: orrery completions powershell | Out-String | Invoke-Expression
# Where nothing is offered, PowerShell completes files itself.
Register-ArgumentCompleter -Native -CommandName orrery -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $typed = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  orrery complete @typed ":$wordToComplete" 2>$null | ForEach-Object {
    $word, $help = $_ -split "\`t", 2
    if ($word -ne ':files' -and $word.StartsWith($wordToComplete)) {
      [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $(if ($help) { $help } else { $word }))
    }
  }
}
`,
};

/** Offered where files may stand: the shell knows them. */
const FILES = ":files";

/**
 * `orrery complete WORD... :CURRENT`, for the scripts: what may stand in place of the word at the cursor, a line each, with what it is for behind a
 * tab. That word has a colon in front of it, since PowerShell gives no program an empty word. It may be any that begins otherwise: shells
 * leave those out.
 */
export async function complete(typed: readonly string[], terminal: Terminal): Promise<number> {
  const offers = await offersFor(typed.slice(0, -1), typed.at(-1)?.slice(1) ?? "", terminal);
  await terminal.stdout.write(offers.map((offer) => `${offer}\n`).join(""));
  return EXIT.ok;
}

async function offersFor(
  [name, ...words]: readonly string[],
  current: string,
  terminal: Terminal,
): Promise<readonly string[]> {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  if (name === undefined) {
    const commands = specs.map((spec) => `${spec.name}\t${spec.summary}`);
    return [...commands, "--help\tShows the commands.", "--version\tPrints the version."];
  }
  const spec = specs.find((each) => each.name === name);
  if (spec === undefined) return [];
  const { at, word, flag } = placeBehind(words, spec);
  const [prefix = ""] = /^--[^=]+=/.exec(current) ?? [];
  if (prefix !== "") {
    const values = await valuesOf(flagOf(prefix.slice(0, -1), spec), word, terminal);
    return values.map((value) => value === FILES ? value : prefix + value);
  }
  // Bash cuts --flag=value into three words.
  if (current === "=") return await valuesOf(flagOf(words.at(-1), spec), word, terminal);
  if (words.at(-1) === "=") return await valuesOf(flagOf(words.at(-2), spec), word, terminal);
  if (flag !== undefined) return await valuesOf(flag, word, terminal);
  if (current.startsWith("-")) {
    return spec.flags.flatMap((each) => typedForms(each).map((form) => `${form}\t${each.help}`));
  }
  return await valuesOf(argumentAt(spec, at), word, terminal);
}

/** Where the cursor is: how many words of the command stand before it, the last of them, and the flag whose value is next. */
function placeBehind(
  words: readonly string[],
  spec: CommandSpec,
): { readonly at: number; readonly word: string; readonly flag: Flag | undefined } {
  let [at, word, flag]: [number, string, Flag | undefined] = [0, "", undefined];
  for (const each of words) {
    if (each === "=") continue;
    if (flag !== undefined) flag = undefined;
    else if (/^-./.test(each)) {
      const found = flagOf(each, spec);
      flag = found?.kind === "switch" || found?.kind === "grant" ? undefined : found; // a grant has its list behind = only
    } else {
      at++;
      word = each;
    }
  }
  return { at, word, flag };
}

/** What a flag or a word may be. @param word the one before it, which says the kind that `orrery show` takes a name of */
async function valuesOf(
  wanted: Flag | Argument | undefined,
  word: string,
  terminal: Terminal,
): Promise<readonly string[]> {
  if (wanted?.choices !== undefined) return wanted.choices;
  if (wanted !== undefined && "kind" in wanted && wanted.kind === "grant") {
    return wanted.value?.startsWith("PATH") ? [FILES] : [];
  }
  switch (wanted?.names) {
    case undefined:
      return [];
    case "file":
      return [FILES];
    case "file-or-prompt":
      return [FILES, ...await namesOf("prompts", terminal)];
    case "shown":
      return await namesOf(`${word}s`, terminal);
    case "help":
      return [...Object.keys(COMMANDS), ...Object.keys(TOPICS)];
    default:
      return await namesOf(`${wanted?.names}s`, terminal);
  }
}

/** What `orrery list KIND --names` lists; nothing where it cannot, such as with a broken orrery.yaml. */
async function namesOf(kind: string, terminal: Terminal): Promise<readonly string[]> {
  const { list }: typeof import("./list/list.ts") = await import("./list/list.ts" as string);
  let text = "";
  const write = (more: string) => Promise.resolve(void (text += more));
  const stdout = { isTerminal: false, closed: false, write, writeNow: write };
  try {
    await list(parseFlags(COMMANDS.list, [kind, "--names"]), { ...terminal, stdout }, KINDS);
  } catch {
    return [];
  }
  return text.split("\n").slice(0, -1);
}
