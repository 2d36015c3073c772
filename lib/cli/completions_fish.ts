import { flagsWithNextWord, grantsFiles, typedForms, valueSource } from "./completion_words.ts";
import type { ValueSource } from "./completion_words.ts";
import { COMMANDS } from "./flags.ts";
import type { Argument, CommandSpec, Flag } from "./flags.ts";

/** The completion script for fish 3 and later. */
export function fishCompletions(): string {
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
  return `${text} -r${values(valueSource(flag))}`;
}

function wordLine(spec: CommandSpec, argument: Argument, index: number): string {
  const taking = flagsWithNextWord(spec).flatMap(typedForms);
  const place = argument.many === true
    ? ["__orrery_in", spec.name]
    : ["__orrery_at", spec.name, index, ...taking];
  return `complete -c orrery -n '${place.join(" ")}'${values(valueSource(argument))}`;
}

function values(source: ValueSource): string {
  switch (source.kind) {
    case "choices":
      return ` -f -a ${fishQuoted(source.choices.join(" "))}`;
    case "file":
      return " -F";
    case "file-or-prompt":
      return " -F -a '(orrery list prompts --names 2>/dev/null)'";
    case "shown":
      return " -f -a '(__orrery_shown)'";
    case "names":
      return ` -f -a '(orrery list ${source.of} --names 2>/dev/null)'`;
    case "none":
      return " -f";
    default:
      return source satisfies never;
  }
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
