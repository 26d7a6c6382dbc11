// An agent that calls a tool of an MCP server which its client runs (MCP over ACP), on the official TypeScript SDK.
//
//     node ts_mcp_agent.mjs FOLDER_OF_THE_INSTALLED_SDK
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = (file) => import(pathToFileURL(join(process.argv[2], "dist", file)).href);
const v1 = await sdk("v1/unstable/acp.js");
const { McpOverAcpCaller } = await sdk("mcp/core.js");

const mcp = new McpOverAcpCaller({ clientInfo: { name: "ts-mcp", version: "1" } });
const agentInfo = { name: "ts-mcp", version: "1" };
const agentCapabilities = { mcpCapabilities: { acp: true } };
let servers = [];

async function turn({ params, client }) {
  const notes = [];
  const ask = (method, more) => mcp.request(client, servers[0].serverId, method, more, { onNotification: (note) => notes.push(note.method) });
  const found = await ask("server/discover");
  const { result } = await ask("tools/list");
  const called = await ask("tools/call", { name: result.tools[0].name, arguments: { a: 1 }, _meta: { progressToken: "t" } });
  const said = [Object.keys(found.result.capabilities).join(), called.result.content[0].text, notes.join()].join(" | ");
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } };
  await client.notify("session/update", { sessionId: params.sessionId, update });
  return { stopReason: "end_turn" };
}

v1.agent({ name: "ts-mcp" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentInfo, agentCapabilities }))
  .onNotification("mcp/message", mcp.handleNotification)
  .onRequest("session/new", ({ params }) => {
    servers = params.mcpServers;
    return { sessionId: "s1" };
  })
  .onRequest("session/prompt", turn)
  .connect(v1.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
