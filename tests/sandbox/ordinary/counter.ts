const table = await Promise.resolve(new Map<string, number>());

export default {
  name: "Counter",
  description: "Keeps count while its process is warm.",
  run: () => {
    const count = (table.get("count") ?? 0) + 1;
    table.set("count", count);
    return count;
  },
};
