await new Promise(() => {});
export default { name: "Attack", description: "Test.", run: () => "loaded" };
