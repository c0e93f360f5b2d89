import { percentEncode } from "../encoding/percent-encode.js";
import type { Catalog } from "@xo-server/inventory";
import type { PoolSummary } from "../status/status.js";
import type { NoticeAlarm, NoticeBody } from "./notice.js";

interface NoticeDescriberOptions {
  readonly catalog: Pick<Catalog, "get">;
  readonly listPools: () => readonly PoolSummary[];
  readonly pageUrl: () => string | undefined;
}

/** Folders of the page with a page for each object, by type. */
const FOLDERS: Readonly<Record<string, string>> = {
  VM: "vms",
  "VM-template": "templates",
  "VM-snapshot": "snapshots",
  host: "hosts",
  pool: "pools",
  SR: "srs",
  network: "networks",
};

/** Adds the name of the pool and a link to each alarm of a notice, when it is sent. */
export function createNoticeDescriber(
  options: NoticeDescriberOptions,
): (body: NoticeBody) => NoticeBody {
  return (body) => ({
    ...body,
    alarms: body.alarms.map((alarm) => ({ ...alarm, ...detailsOf(alarm) })),
  });

  function detailsOf({
    objectId,
  }: NoticeAlarm): Pick<NoticeAlarm, "pool" | "url"> {
    const { catalog, listPools, pageUrl } = options;
    const base = pageUrl();
    const entry = objectId === undefined ? undefined : catalog.get(objectId);
    const pool = listPools().find(({ id }) => id === entry?.pool)?.label;
    const folder = FOLDERS[entry?.type ?? ""];
    const path =
      folder === undefined || objectId === undefined
        ? "settings/alarms"
        : `${folder}/${percentEncode(objectId)}`;
    return {
      ...(pool === undefined ? {} : { pool }),
      ...(base === undefined ? {} : { url: `${base}#/${path}` }),
    };
  }
}
