import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { Test } from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { receiveMail } from "./receive-mail.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

export interface MailingServer {
  readonly url: string;
  readonly api: ApiSession;
  /** The mails as received, with headers. */
  readonly letters: readonly string[];
}

/** A server over a pool of two hosts, and a mail server that stores received mails. */
export async function startMailingServer(t: Test): Promise<MailingServer> {
  const letters: string[] = [];
  const mail = createServer((socket) => {
    receiveMail(socket, (letter) => letters.push(letter));
  }).listen(0, "127.0.0.1");
  await once(mail, "listening");
  t.teardown(() => mail.close());
  const { port } = mail.address() as AddressInfo;
  const members = ["--members", "9"];
  const [pool] = await simulate(t, "--hosts", "2", "--vms", "6", ...members);
  const cwd = t.testdir({
    "config.yaml": [
      `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
      `mail: { host: 127.0.0.1, port: ${port}, security: none, from: "xo@example.org" }`,
    ].join("\n"),
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  return { letters, url, api: await ApiSession.open(t, url) };
}
