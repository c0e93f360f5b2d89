import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

// Clients get the response of the source as it arrives. The job is sent over the channel: its URL
// contains a session.

const [{ source }] = (await once(process, "message")) as [{ source: string }];
await import("../../api/programs/server-probe.js");

const server = createServer((_request, response) => {
  get(source, (answer) => {
    response.writeHead(answer.statusCode ?? 502);
    pipeline(answer, response, () => undefined);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.send?.((server.address() as AddressInfo).port);
});
// Ends with its parent.
process.on("disconnect", () => process.exit(0));
