import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { spawn } from "node:child_process";
import { connect } from "node:tls";
import { createInterface } from "node:readline";
import { once } from "node:events";
import type { Test } from "tap";

/** govmomi's simulator of vCenter; the environment variable XO_VCSIM sets another path. */
const VCSIM = process.env["XO_VCSIM"] ?? "/tmp/gov/vcsim";

/** Why it cannot be used; false: it is installed. */
export const noVcsim: string | false = existsSync(VCSIM)
  ? false
  : "vcsim is not installed: GOBIN=/tmp/gov go install github.com/vmware/govmomi/vcsim@v0.37.3";

export interface Vcsim {
  /** `127.0.0.1:port` */
  readonly host: string;
  /** SHA-256 of its certificate. */
  readonly fingerprint: string;
  /** Writes a file of the datastore. @param path `VM/disk.vmdk` */
  readonly put: (path: string, content: string | Buffer) => Promise<void>;
}

/** A vCenter with the VMs DC0_H0_VM0 and so on, which run, each with a disk of 10 GiB without content. */
export async function startVcsim(t: Test, ...args: string[]): Promise<Vcsim> {
  const child = spawn(VCSIM, ["-l", "127.0.0.1:0", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(() => child.kill());
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const host = /@(127\.0\.0\.1:\d+)/.exec(line)![1]!;
  const socket = connect({
    host: "127.0.0.1",
    port: Number(host.split(":")[1]),
    rejectUnauthorized: false,
  });
  await once(socket, "secureConnect");
  const { fingerprint256 } = new X509Certificate(
    socket.getPeerCertificate().raw,
  );
  socket.destroy();
  const cookie = await signIn(host);
  return {
    host,
    fingerprint: fingerprint256,
    async put(path, content) {
      const query = "dcPath=DC0&dsName=LocalDS_0";
      const { status } = await send(host, {
        method: "PUT",
        path: `/folder/${path}?${query}`,
        headers: { cookie },
        body: content,
      });
      t.ok(status < 300, `${path}: ${status}`);
    },
  };
}

async function signIn(host: string): Promise<string> {
  const { cookie } = await send(host, {
    method: "POST",
    path: "/sdk",
    headers: { "content-type": "text/xml" },
    body: `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><Login xmlns="urn:vim25"><_this type="SessionManager">SessionManager</_this><userName>user</userName><password>pass</password></Login></Body></Envelope>`,
  });
  return cookie;
}

async function send(
  host: string,
  {
    body,
    ...options
  }: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Buffer;
  },
): Promise<{ status: number; cookie: string }> {
  const sent = request(`https://${host}`, {
    ...options,
    headers: { ...options.headers, "content-length": Buffer.byteLength(body) },
    rejectUnauthorized: false,
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  const [cookie = ""] = response.headers["set-cookie"] ?? [];
  return {
    status: response.statusCode ?? 0,
    cookie: cookie.split(";")[0] ?? "",
  };
}
