import { defineGadget } from "orrery";

const PRICES: Record<string, number> = { tea: 3, coffee: 4, scone: 2.5 };

// A gadget may do nothing by itself: what it needs, such as files or hosts, it says under `permissions`.
export default defineGadget({
  name: "Price",
  description: "Gives the price of an order, such as: 2 tea, 1 scone",
  input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  run({ order }) { // its type follows from `input`
    let sum = 0;
    for (const part of order.split(",")) {
      const [count = "", what = ""] = part.trim().split(" ");
      const price = PRICES[what];
      if (price === undefined) throw new Error(`${what}: not on the menu`);
      sum += Number(count) * price;
    }
    return sum;
  },
});
