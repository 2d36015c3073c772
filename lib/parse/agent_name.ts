/** Whether a file of this name holds an agent (conversations.md 1). */
export function isAgentName(name: string): boolean {
  return /\.agent\.ya?ml$/i.test(name);
}
