const all = [];
while (all.length < 100_000) all.push(new Array(1_000_000).fill(all.length));
export default { name: "Attack", description: "Test.", run: () => "loaded" };
