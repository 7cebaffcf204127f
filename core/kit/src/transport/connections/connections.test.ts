import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { openPool, within } from "@sluice/testing/serve-http";

it("offers HTTP/1.1 alone to an upstream behind TLS", async () => {
  const heard = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (hello: Buffer) => {
      heard.resolve(hello);
      socket.destroy();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/`;
  await expect(
    openPool({ connections: 1 }).send(
      { kind: "http", method: "GET", url, headers: {}, body: undefined },
      within(),
    ),
  ).rejects.toMatchObject({ code: "upstream_unreachable" });
  server.close();
  const hello = (await heard.promise).toString("latin1");
  expect(hello).toContain("\x08http/1.1");
  expect(hello).not.toContain("\x02h2");
});
