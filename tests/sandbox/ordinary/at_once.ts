let running = 0;
let most = 0;
let calls = 0;

export default {
  name: "AtOnce",
  description: "Counts how many of its calls run at once.",
  maxConcurrent: 2,
  async run() {
    calls++;
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 60));
    running--;
    return { most, calls };
  },
};
