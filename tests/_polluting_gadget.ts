// A gadget that changes everything a facade may use, in a process of its own: what it asks for by that is still only what it asked for.
import { gadgetWorld } from "./_gadget_world.ts";

const { Deno: facade, effects } = gadgetWorld({ "a.txt": "one" });
const print = console.log;

Object.assign(Object.prototype, {
  recursive: true,
  append: true,
  createNew: true,
  error: { code: "other" },
  effect: 9,
  toPath: "/etc",
});
Array.prototype.includes = () => true;
String.prototype.replace = () => "/etc/passwd";
String.prototype.includes = () => false;
Object.defineProperty(Object.prototype, "path", { get: () => "/etc/passwd", configurable: true });
Object.defineProperty(Object.prototype, "kind", { get: () => "remove", configurable: true });

let text = "";
try {
  text = await facade.readTextFile("a.txt");
  text += facade.readTextFileSync("a.txt");
} catch (error) {
  text = String(error);
}
Reflect.deleteProperty(Object.prototype, "path");
Reflect.deleteProperty(Object.prototype, "kind");
const kinds = new Set(effects.asked.map((op) => op.kind));
print(`asked only for: ${[...kinds].join(" ")}`);
print(`came back with: ${text}`);
