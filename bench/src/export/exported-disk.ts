import { callXapi } from "../harness/call-xapi.js";
import type { PoolAddress } from "../harness/simulator.js";

/** A disk made for the measurement, as the pool itself hands it out. */
export interface ExportedDisk {
  readonly uuid: string;
  /** Of the pool's handler, with a session. */
  readonly url: string;
}

/** Creates a disk of this size in bytes on the pool's default SR, by XAPI's own calls. */
export async function makeDisk(
  { url, user, password }: PoolAddress,
  bytes: number,
): Promise<ExportedDisk> {
  const call = (method: string, params: readonly unknown[]) =>
    callXapi(url, method, params);
  const session = await call("session.login_with_password", [
    user,
    password,
    "2.21",
    "xo-bench",
  ]);
  const [pool] = (await call("pool.get_all", [session])) as string[];
  const SR = await call("pool.get_default_SR", [session, pool]);
  const ref = (await call("VDI.create", [
    session,
    {
      name_label: "exported",
      name_description: "",
      SR,
      virtual_size: bytes,
      type: "user",
      sharable: false,
      read_only: false,
      other_config: {},
      xenstore_data: {},
      sm_config: {},
      tags: [],
    },
  ])) as string;
  const query = new URLSearchParams({
    vdi: ref,
    format: "raw",
    session_id: session as string,
  });
  return {
    uuid: (await call("VDI.get_uuid", [session, ref])) as string,
    url: `${url}/export_raw_vdi?${query.toString()}`,
  };
}
