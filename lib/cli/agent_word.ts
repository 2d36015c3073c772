/** Whether a word of the command line names an agent file (cli.md). */
export function isAgentWord(word: string): boolean {
  return /\.agent\.ya?ml$/i.test(word);
}
