import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeLoopbackCertificate } from "@xo-server/certificate";

/** nbdkit with TLS, whose export it computes (plugin `pattern`). */
export interface NbdServerProcess {
  readonly port: number;
  /** Folder with the certificates, as nbdkit and nbdcopy have it. */
  readonly certificates: string;
  readonly sizeMib: number;
  stop(): Promise<void>;
}

/** @param folder for the certificates; must exist */
export async function startNbdServer(
  folder: string,
  sizeMib: number,
): Promise<NbdServerProcess> {
  const certificates = join(folder, "certificates");
  const { key, cert } = makeLoopbackCertificate();
  await mkdir(certificates);
  await writeFile(join(certificates, "ca-cert.pem"), cert);
  await writeFile(join(certificates, "server-cert.pem"), cert);
  await writeFile(join(certificates, "server-key.pem"), key);
  const port = await freePort();
  const ready = join(folder, "nbdkit.pid");
  const child = spawn(
    "nbdkit",
    [
      "-f",
      "-r",
      "-i",
      "127.0.0.1",
      "-p",
      String(port),
      "-P",
      ready,
      "--tls=require",
      `--tls-certificates=${certificates}`,
      "pattern",
      `${sizeMib}M`,
    ],
    { stdio: "ignore" },
  );
  const stop = () => stopChild(child);
  try {
    await untilWritten(ready, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, certificates, sizeMib, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** nbdkit writes its process id once it listens. */
async function untilWritten(file: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await readFile(file, "utf8").catch(() => "")) !== "") return;
    if (child.exitCode !== null) break;
    await sleep(50);
  }
  throw new Error("nbdkit does not start");
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
}
