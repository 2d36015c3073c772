export default {
  name: "Formatted",
  description: "Counts, and says it in words.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }: { text: string }) => ({ words: text.split(" ").length }),
  format: (result: { words: number }, call: { gadgetName: string }) =>
    `${call.gadgetName}: ${result.words} words`,
};
