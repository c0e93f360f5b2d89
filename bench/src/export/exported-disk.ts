import type { PoolAddress } from "../harness/simulator.js";

/** A disk made for the measurement, as the pool itself hands it out. */
export interface ExportedDisk {
  readonly uuid: string;
  /** Of the pool's handler, with a session. */
  readonly url: string;
}

/** Makes a disk of so many bytes on the pool's default SR, by XAPI's own calls. */
export async function makeDisk(
  { url, user, password }: PoolAddress,
  bytes: number,
): Promise<ExportedDisk> {
  const call = (method: string, params: readonly unknown[]) =>
    callXapi(url, method, params);
  const session = await call("session.login_with_password", [
    ...[user, password, "2.21", "xo-bench"],
  ]);
  const [pool] = (await call("pool.get_all", [session])) as string[];
  const SR = await call("pool.get_default_SR", [session, pool]);
  const ref = (await call("VDI.create", [
    session,
    {
      ...{ name_label: "exported", name_description: "", SR },
      ...{ virtual_size: bytes, type: "user" },
      ...{ sharable: false, read_only: false },
      ...{ other_config: {}, xenstore_data: {}, sm_config: {}, tags: [] },
    },
  ])) as string;
  const query = new URLSearchParams({
    ...{ vdi: ref, format: "raw", session_id: session as string },
  });
  return {
    uuid: (await call("VDI.get_uuid", [session, ref])) as string,
    url: `${url}/export_raw_vdi?${query.toString()}`,
  };
}

async function callXapi(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
  const answer = await fetch(`${url}/jsonrpc`, { method: "POST", body });
  const { result, error } = (await answer.json()) as {
    readonly result?: unknown;
    readonly error?: { readonly message: string };
  };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
