// An agent behind the protocol's official TypeScript SDK as a server, over Streamable HTTP and WebSocket at /acp. Its
// sessions outlive their connections, and it loads them with all that was said.
//
//     node ts_server.mjs TOKEN      prints its port; ends with its input; stands beside node_modules with the SDK and ws
import http from "node:http";
import * as acp from "@agentclientprotocol/sdk";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { WebSocketServer } from "ws";

const token = process.argv[2];
const sessions = new Map();
const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }, { optionId: "n", name: "No", kind: "reject_once" }];

function createAgent() {
  const tell = (client, sessionId, update) => client.notify("session/update", { sessionId, update });
  return acp
    .agent({ name: "ts-server" })
    .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    .onRequest("session/new", () => {
      const sessionId = `ts-${sessions.size + 1}`;
      sessions.set(sessionId, []);
      return { sessionId };
    })
    .onRequest("session/load", async ({ params, client }) => {
      for (const update of sessions.get(params.sessionId)) await tell(client, params.sessionId, update);
      return {};
    })
    .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
      const history = sessions.get(sessionId);
      const say = (update) => (history.push(update), tell(client, sessionId, update));
      for (const content of prompt) history.push({ sessionUpdate: "user_message_chunk", content });
      await say({ sessionUpdate: "tool_call", toolCallId: "c", title: "Run it", kind: "execute", status: "pending" });
      const asked = { sessionId, toolCall: { toolCallId: "c", title: "Run it" }, options };
      const { outcome } = await client.request("session/request_permission", asked);
      await say({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed" });
      for (let i = 0; i < 500; i++) {
        await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${outcome.optionId}${i} ` } });
      }
      return { stopReason: "end_turn" };
    })
    .onNotification("session/cancel", () => {});
}

const server = new AcpServer({ createAgent });
const handle = createNodeHttpHandler(server);
const upgrade = createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true }));
const isWelcome = (request) => request.url === "/acp" && request.headers.authorization === `Bearer ${token}`;

const listener = http.createServer((request, response) => {
  if (!isWelcome(request)) return response.writeHead(request.url === "/acp" ? 401 : 404).end();
  if (request.method === "POST") response.setHeader("Set-Cookie", "node=a; Path=/");
  else if (!request.headers.cookie?.includes("node=a")) return response.writeHead(421).end(); // as behind a balancer
  handle(request, response);
});
listener.on("upgrade", (request, socket, head) => {
  if (isWelcome(request)) upgrade(request, socket, head);
  else socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
});
listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
