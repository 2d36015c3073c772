// A gadget of one's own: a module with nothing to import. It runs with `--gadget bar_chart.js`, in a process that may do nothing else.
export default {
  name: "BarChart",
  description: "Draws rows of a label and a number as a bar chart in text.",
  input: {
    type: "object",
    properties: {
      rows: {
        type: "array",
        description: "The bars, from top to bottom.",
        items: {
          type: "object",
          properties: { label: { type: "string" }, value: { type: "number", minimum: 0 } },
          required: ["label", "value"],
        },
      },
      width: { type: "integer", minimum: 1, default: 40, description: "Characters of the longest bar." },
    },
    required: ["rows"],
  },
  run({ rows, width }) {
    const most = Math.max(1, ...rows.map((row) => row.value));
    const labelWidth = Math.max(0, ...rows.map((row) => row.label.length));
    return rows
      .map(({ label, value }) =>
        `${label.padEnd(labelWidth)}  ${"█".repeat(Math.round((value / most) * width))} ${value}`
      )
      .join("\n");
  },
};
