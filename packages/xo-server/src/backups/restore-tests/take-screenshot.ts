import type { ConsoleScreenshot, HttpEndpoint } from "@xo-server/backup";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Workers } from "../repositories/workers.js";

/**
 * A screenshot of a running VM: a worker reads it.
 * @returns undefined: the VM has no screen
 * @throws XapiError, WorkerError; XoError of the connection, ABORTED
 */
export async function takeScreenshot(
  xapi: Xapi,
  vm: Ref,
  {
    workers,
    signal,
  }: {
    readonly workers: Pick<Workers, "run">;
    readonly signal: AbortSignal;
  },
): Promise<ConsoleScreenshot | undefined> {
  const ref = await findScreen(xapi, vm);
  if (ref === undefined) return undefined;
  const host = (await xapi.call("VM.get_resident_on", [vm])) as Ref;
  const address = (await xapi.call("host.get_address", [host])) as string;
  const { tls, ...target } = await xapi.streamTarget({
    path: "/console",
    query: { ref },
    host: address,
    signal,
  });
  const console: HttpEndpoint = {
    ...target,
    ...(tls === undefined ? {} : { tls: { certificates: tls.certificate } }),
  };
  const operation = { type: "console", console } as const;
  return (await workers.run({ operation }, { signal })) as ConsoleScreenshot;
}

async function findScreen(xapi: Xapi, vm: Ref): Promise<Ref | undefined> {
  const consoles = await xapi.call("VM.get_consoles", [vm]);
  for (const ref of consoles as readonly Ref[])
    if ((await xapi.call("console.get_protocol", [ref])) === "rfb") return ref;
  return undefined;
}
