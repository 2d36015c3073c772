/** A template that cannot be rendered with these arguments; the message says nothing of the prompt. */
export class RenderError extends Error {
  override readonly name = "RenderError";
}
