import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface HookSink {
  readonly url: string;
  readonly posted: readonly Posted[];
  /** What it answers; default: 204. */
  status: number;
  /** Headers of its answers. */
  headers: Record<string, string>;
}

/** An HTTP server on loopback that keeps what it gets; ends with the test. */
export async function startHookSink(t: Test): Promise<HookSink> {
  const posted: Posted[] = [];
  const state: Pick<HookSink, "status" | "headers"> = {
    status: 204,
    headers: {},
  };
  const server = createServer((request, answer) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const { url = "", headers } = request;
      posted.push({ path: url, headers, text });
      answer.writeHead(state.status, state.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook`;
  return Object.assign(state, { url, posted });
}
