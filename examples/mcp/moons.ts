// An MCP server on stdio, as small as one can be: a line of JSON comes in, a line of JSON goes out. Real ones use an SDK.

const MOONS: Readonly<Record<string, readonly string[]>> = {
  Mars: ["Phobos", "Deimos"],
  Jupiter: ["Io", "Europa", "Ganymede", "Callisto"],
  Neptune: ["Triton", "Nereid"],
};

const TOOLS = [{
  name: "of",
  description: "Names the moons of a planet that a small telescope shows.",
  inputSchema: { type: "object", properties: { planet: { type: "string" } }, required: ["planet"] },
}];

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly arguments?: { readonly planet?: string };
  };
}

function resultOf({ method, params }: Request): unknown {
  if (method === "initialize") {
    const serverInfo = { name: "moons", version: "1.0.0" };
    return { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools: TOOLS };
  if (method !== "tools/call") return undefined;
  const planet = params?.arguments?.planet ?? "";
  const moons = MOONS[planet];
  return moons === undefined
    ? { content: [{ type: "text", text: `No planet here is called ${planet}` }], isError: true }
    : { content: [{ type: "text", text: moons.join(", ") }] };
}

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const request: Request = JSON.parse(line);
    if (request.id === undefined) continue;
    const result = resultOf(request);
    const error = { code: -32601, message: `Unknown method ${request.method}` };
    const answer = result === undefined ? { error } : { result };
    console.log(JSON.stringify({ jsonrpc: "2.0", id: request.id, ...answer }));
  }
}
