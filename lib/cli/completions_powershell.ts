import { flagsWithNextWord, typedForms, valueSource } from "./completion_words.ts";
import type { ValueSource } from "./completion_words.ts";
import { COMMANDS } from "./flags.ts";
import type { CommandSpec } from "./flags.ts";

/** The completion script for PowerShell 5.1 and later; files are completed by PowerShell itself. */
export function powershellCompletions(): string {
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
    typedForms(flag).map((form) => `        '${form}' = ${block(valueSource(flag))}\n`)
  );
  const words = spec.arguments.map((argument) => block(valueSource(argument)));
  return `    '${spec.name}' = @{
      Flags = @(${list(spec.flags.flatMap(typedForms))})
      Values = @{
${values.join("")}      }
      Words = @(${words.join(", ")})
      Many = $${spec.arguments.at(-1)?.many === true}
    }
`;
}

function block(source: ValueSource): string {
  switch (source.kind) {
    case "choices":
      return `{ ${list(source.choices)} }`;
    case "names":
      return `{ orrery list ${source.of} --names 2>$null }`;
    case "file-or-prompt":
      return "{ orrery list prompts --names 2>$null }";
    case "shown":
      return '{ orrery list "${word}s" --names 2>$null }';
    case "file":
    case "none":
      return "{ }";
    default:
      return source satisfies never;
  }
}

/** Words of the table: letters, digits and dashes only. */
function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}
