// A program with a gateway inside: it starts one, asks it, and closes it.
import { startGateway } from "@sluice/engine";

const config = process.argv[2] ?? "examples/embedded/gateway.yaml";
const gateway = await startGateway({ config, environment: process.env });
const reply = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
  method: "POST",
  headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
  body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello, Sluice" }] }),
});
console.log(reply.status, (await reply.json()).choices[0].message.content);
await gateway.close();
