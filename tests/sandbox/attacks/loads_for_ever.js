while (Date.now() > 0);
export default { name: "Attack", description: "Test.", run: () => "loaded" };
