/** Renders a template in place of Orrery's own grammar, which is not applied then. */
export interface Renderer {
  render(template: string, args: Readonly<Record<string, unknown>>): string;
  /** The names that must be among the arguments. Default: none. */
  vars?(template: string): Iterable<string>;
}
