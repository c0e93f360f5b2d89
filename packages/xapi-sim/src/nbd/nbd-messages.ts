import type { CoreContext, CoreTable } from "../calls/core.js";
import { assertHasData } from "../operations/storage/cbt.js";
import { flag, refs, text, textParam } from "../records/fields.js";
import { exportName } from "./disk-export.js";

export const nbdMessages: CoreTable = {
  "VDI.get_nbd_info": async (context, params) => {
    const { db, session, core } = context;
    const ref = textParam(params, 0);
    assertHasData(db, ref);
    const vdi = db.get("VDI", ref);
    const exportname = exportName(text(vdi, "uuid"), session.ref);
    const hosts = hostsOf(context, text(vdi, "SR"));
    const endpoints = await Promise.all(
      hosts.map((host) => core.nbd.addressOf(host)),
    );
    const infos = new Map(
      endpoints.map(({ address, port, certificate, subject }) => [
        `${address}:${port}`,
        { exportname, address, port, cert: certificate, subject },
      ]),
    );
    return [...infos.values()];
  },
};

/** Hosts that see the SR and have an address on a network for NBD. */
function hostsOf({ db }: CoreContext, sr: string): readonly string[] {
  return refs(db.get("SR", sr), "PBDs")
    .map((ref) => db.get("PBD", ref))
    .filter((pbd) => flag(pbd, "currently_attached"))
    .map((pbd) => text(pbd, "host"))
    .filter((host) =>
      refs(db.get("host", host), "PIFs").some((ref) => {
        const pif = db.get("PIF", ref);
        const purposes = refs(
          db.get("network", text(pif, "network")),
          "purpose",
        );
        return (
          flag(pif, "currently_attached") &&
          (text(pif, "IP") !== "" ||
            refs(pif, "IPv6").some((ip) => ip !== "")) &&
          (purposes.includes("nbd") || purposes.includes("insecure_nbd"))
        );
      }),
    );
}
