/** The same answer; tells when it is over, and whether its reader has left before. */
export function watchedAnswer(
  answer: Response,
  { onLeave, onEnd = () => undefined }: { readonly onLeave: () => void; readonly onEnd?: () => void },
): Response {
  let isOver = false;
  const end = (): void => {
    if (!isOver) onEnd();
    isOver = true;
  };
  if (answer.body === null) {
    end();
    return answer;
  }
  const reader = answer.body.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        if (isOver) return; // its reader has left meanwhile
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    async cancel(reason) {
      end();
      onLeave();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, answer);
}
