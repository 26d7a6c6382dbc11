// One conversation in both versions of ACP, on the official TypeScript SDK, which also chooses the version.
//
//     node ts_agent_of_two_versions.mjs FOLDER_OF_THE_INSTALLED_SDK
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = (file) => import(pathToFileURL(join(process.argv[2], "dist", file)).href);
const v1 = await sdk("v1/stable/acp.js");
const v2 = await sdk("v2/stable/acp.js");

const text = (said) => ({ type: "text", text: said });
const OPTIONS = [
  { optionId: "y", name: "Write it", kind: "allow_once" },
  { optionId: "n", name: "Leave it", kind: "reject_once" },
];
const STEPS = [{ content: "write the file", priority: "high", status: "completed" }];
const FILE = "/work/notes.txt";
const reading = { toolCallId: "r", title: "Read notes", kind: "read", locations: [{ path: FILE, line: 3 }] };
const writing = { toolCallId: "w", title: "Write notes", kind: "edit", rawInput: { path: FILE } };
const allows = (answer) => answer.outcome.outcome === "selected" && answer.outcome.optionId === "y";

function v1App() {
  return v1
    .agent({ name: "two" })
    .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "two", version: "1" } }))
    .onRequest("session/new", () => ({ sessionId: "s" }))
    .onRequest("session/prompt", async ({ params: { sessionId }, client }) => {
      const send = (update) => client.notify("session/update", { sessionId, update });
      await send({ sessionUpdate: "agent_thought_chunk", content: text("I should write it down.") });
      await send({ sessionUpdate: "plan", entries: STEPS });
      await send({ sessionUpdate: "tool_call", ...reading, status: "completed", content: [{ type: "content", content: text("old notes") }] });
      await send({ sessionUpdate: "tool_call", ...writing, status: "pending" });
      const answer = await client.request("session/request_permission", { sessionId, toolCall: { toolCallId: "w" }, options: OPTIONS });
      const content = [{ type: "diff", path: FILE, newText: "new notes\n" }];
      await send({ sessionUpdate: "tool_call_update", toolCallId: "w", ...(allows(answer) ? { status: "completed", content } : { status: "failed" }) });
      await send({ sessionUpdate: "agent_message_chunk", content: text("Written ") });
      await send({ sessionUpdate: "agent_message_chunk", content: text("**down**.") });
      await send({ sessionUpdate: "usage_update", used: 5, size: 100 });
      return { stopReason: "end_turn" };
    })
    .onNotification("session/cancel", () => {});
}

function v2App() {
  return v2
    .agent({ name: "two" })
    .onRequest("initialize", () => ({ protocolVersion: 2, info: { name: "two", version: "1" }, authMethods: [], capabilities: {} }))
    .onRequest("session/new", () => ({ sessionId: "s" }))
    .onRequest("session/prompt", ({ params: { sessionId, prompt }, client }) => {
      void turn(client, sessionId, prompt);
      return { messageId: "u" };
    })
    .onNotification("session/cancel", () => {});
}

async function turn(client, sessionId, prompt) {
  const send = (update) => client.notify("session/update", { sessionId, update });
  await send({ sessionUpdate: "user_message", messageId: "u", content: prompt });
  await send({ sessionUpdate: "state_update", state: "running" });
  await send({ sessionUpdate: "agent_thought_chunk", messageId: "t", content: text("I should write it down.") });
  await send({ sessionUpdate: "plan_update", plan: { type: "items", planId: "plan", entries: STEPS } });
  await send({ sessionUpdate: "tool_call_update", ...reading, status: "completed" });
  await send({ sessionUpdate: "tool_call_content_chunk", toolCallId: "r", content: { type: "content", content: text("old notes") } });
  await send({ sessionUpdate: "tool_call_update", ...writing });
  await send({ sessionUpdate: "state_update", state: "requires_action" });
  const subject = { type: "tool_call", toolCall: { toolCallId: "w" } };
  const answer = await client.request("session/request_permission", { sessionId, title: "Write notes", subject, options: OPTIONS });
  await send({ sessionUpdate: "state_update", state: "running" });
  const patch = `diff --git ${FILE} ${FILE}\nnew file mode 100644\n--- /dev/null\n+++ ${FILE}\n@@ -0,0 +1 @@\n+new notes\n`;
  const diff = { type: "diff", changes: [{ operation: "add", path: FILE }], patch: { format: "git_patch", text: patch } };
  await send({ sessionUpdate: "tool_call_update", toolCallId: "w", ...(allows(answer) ? { status: "completed", content: [diff] } : { status: "failed" }) });
  await send({ sessionUpdate: "agent_message_chunk", messageId: "a", content: text("Wri") });
  await send({ sessionUpdate: "agent_message", messageId: "a", content: [text("Written ")] });
  await send({ sessionUpdate: "agent_message_chunk", messageId: "a", content: text("**down**.") });
  await send({ sessionUpdate: "usage_update", used: 5, size: 100 });
  await send({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
}

const router = v2.agentProtocolRouter().withV1(v1App()).withV2(v2App());
const { closed } = router.connect(v2.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
closed.then(() => process.exit(0));
