// An agent on the protocol's official TypeScript SDK, for tests of the client. A prompt names the scene that is played;
// what the client said, as the SDK understood it, is told back as JSON in the agent's message.
//
//     node ts_agent.mjs FOLDER_OF_THE_INSTALLED_SDK
import assert from "node:assert/strict";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = (file) => import(pathToFileURL(join(process.argv[2], "dist/v1", file)).href);
const acp = await sdk("stable/acp.js");
const schema = await sdk("schema/zod.gen.js");
const { agent: OURS, client: THEIRS } = acp.methods;

// The SDK checks the params that come in, but not what goes out, nor the answers that come back. Its schema drops what
// it does not know and mends what it can: here both are errors.
function checked(type, value) {
  assert.deepEqual(type.parse(value), value);
  return value;
}

const FORM = {
  mode: "form",
  message: "Where to?",
  requestedSchema: {
    type: "object",
    title: "Deployment",
    required: ["host", "replicas"],
    properties: {
      host: { type: "string", title: "Host", minLength: 1, maxLength: 9, pattern: "^[a-z]+$", default: "alpha" },
      contact: { type: "string", format: "email" },
      replicas: { type: "integer", minimum: 1, maximum: 9, default: 2 },
      ratio: { type: "number", minimum: 0.5, maximum: 1 },
      dry: { type: "boolean", description: "Change nothing", default: true },
      tier: { type: "string", enum: ["free", "paid"] },
      region: { type: "string", oneOf: [{ const: "eu", title: "Europe" }, { const: "us", title: "America" }] },
      tags: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b"] }, default: ["a"] },
      teams: { type: "array", items: { anyOf: [{ const: "x", title: "Team X" }, { const: "y", title: "Team Y" }] } },
    },
  },
};
const VISIT = { mode: "url", message: "Sign in", elicitationId: "visit-1", url: "https://example.org/sign-in?code=1" };

const block = (text) => ({ type: "text", text });

// One prompt, and what an agent can do while it answers.
class Turn {
  constructor(client, sessionId) {
    this.client = client;
    this.sessionId = sessionId;
    this.withdrawal = new AbortController();
    this.cancelled = new Promise((resolve) => (this.cancel = resolve));
  }

  async update(sessionUpdate, fields) {
    const params = { sessionId: this.sessionId, update: { sessionUpdate, ...fields } };
    await this.client.notify(THEIRS.session.update, checked(schema.zSessionNotification, params));
  }

  async tell(value) {
    await this.update("agent_message_chunk", { content: block(JSON.stringify(value)) });
  }

  async ask(question) {
    const options = { cancellationSignal: this.withdrawal.signal };
    return elicit(this.client, { ...question, sessionId: this.sessionId }, options);
  }

  async complete(elicitationId) {
    const params = checked(schema.zCompleteElicitationNotification, { elicitationId });
    await this.client.notify(THEIRS.elicitation.complete, params);
  }
}

async function elicit(client, question, options) {
  const params = checked(schema.zCreateElicitationRequest, question);
  return checked(schema.zCreateElicitationResponse, await client.request(THEIRS.elicitation.create, params, options));
}

const SCENES = {
  capabilities: (turn) => turn.tell(clientCapabilities),

  async notices(turn) {
    await turn.update("notice", { severity: "info", title: "Indexed" });
    await turn.update("notice", { severity: "warning", title: "Quota", description: "Ten requests are left" });
    await turn.update("notice", { severity: "_dire", title: "Disk full", description: null });
  },

  async compaction(turn) {
    await turn.update("compaction_update", { compactionId: "streamed", status: "in_progress" });
    for (const word of ["You asked ", "for tests."]) {
      await turn.update("compaction_summary_chunk", { compactionId: "streamed", content: block(word) });
    }
    await turn.update("compaction_update", { compactionId: "streamed", status: "completed" });
    await turn.update("compaction_summary_chunk", { compactionId: "replaced", content: block("A draft") });
    await turn.update("compaction_update", { compactionId: "replaced", status: "completed", summary: [block("Done")] });
    await turn.update("compaction_update", { compactionId: "broken", status: "failed", error: "No model" });
  },

  form: async (turn) => turn.tell(await turn.ask(FORM)),
  visit: async (turn) => turn.tell(await turn.ask(VISIT)),

  async visited(turn) {
    await turn.complete("another");
    await turn.complete(VISIT.elicitationId);
  },

  withdrawn: async (turn) => turn.ask(FORM).catch(({ code }) => turn.tell({ code })),

  async cancelled(turn) {
    const answer = await turn.ask(FORM);
    const order = heard.slice(-2);
    await turn.cancelled;
    await turn.tell({ answer, order });
    return "cancelled";
  },
};

// The methods as they came: the SDK may wake who waits for an answer before it handles an earlier notification.
const heard = [];
let clientCapabilities;
let turn;
const verbose = { type: "boolean", id: "verbose", name: "Verbose", currentValue: false };
const configOptions = () => (clientCapabilities.session?.configOptions?.boolean ? [{ ...verbose }] : []);

const agent = acp
  .agent({ name: "ts-agent" })
  .onRequest(OURS.initialize, ({ params }) => {
    clientCapabilities = params.clientCapabilities;
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "ts-agent", version: "1" },
      agentCapabilities: {},
      authMethods: [{ id: "question", name: "By a question" }],
    };
  })
  .onRequest(OURS.authenticate, async ({ client, requestId }) => {
    const answer = await elicit(client, { ...FORM, requestId });
    if (answer.action !== "accept") throw acp.RequestError.authRequired(answer);
  })
  .onRequest(OURS.session.new, () => ({ sessionId: "session-1", configOptions: configOptions() }))
  .onRequest(OURS.session.setConfigOption, ({ params }) => {
    assert.equal(params.configId, verbose.id);
    verbose.currentValue = params.value;
    return { configOptions: configOptions() };
  })
  .onRequest(OURS.session.prompt, async ({ params, client }) => {
    turn = new Turn(client, params.sessionId);
    return { stopReason: (await SCENES[params.prompt[0].text](turn)) ?? "end_turn" };
  })
  .onNotification(OURS.session.cancel, () => turn.cancel())
  .onNotification("_test/withdraw", (params) => params, () => turn.withdrawal.abort());

const listening = new TransformStream({
  transform(message, out) {
    heard.push(message.method ?? "an answer");
    out.enqueue(message);
  },
});
const { readable, writable } = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
agent.connect({ readable: readable.pipeThrough(listening), writable });
