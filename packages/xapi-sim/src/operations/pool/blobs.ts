import { toDatetime } from "../../clock.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap } from "../../xapi-value.js";
import { textParam } from "../../records/fields.js";

/** Binary large objects of VMs, hosts, SRs, networks and the pool. */
export const blobOperations: OperationTable = {
  "blob.create": ({ db, clock }, params) =>
    db.create("blob", {
      mime_type: textParam(params, 0),
      public: params[1] === true,
      size: 0,
      last_updated: toDatetime(clock.now()),
    }),
  "VM.create_new_blob": (context, params) =>
    addBlob(context, "VM", params as readonly string[]),
  "host.create_new_blob": (context, params) =>
    addBlob(context, "host", params as readonly string[]),
  "SR.create_new_blob": (context, params) =>
    addBlob(context, "SR", params as readonly string[]),
  "pool.create_new_blob": (context, params) =>
    addBlob(context, "pool", params as readonly string[]),
  "network.create_new_blob": (context, params) =>
    addBlob(context, "network", params as readonly string[]),
  "blob.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    for (const className of ["VM", "host", "SR", "pool", "network"])
      for (const [owner, record] of db.records(className)) {
        const blobs = Object.entries(record["blobs"] as XapiMap);
        const rest = blobs.filter(([, blob]) => blob !== ref);
        if (rest.length < blobs.length)
          db.update(className, owner, { blobs: Object.fromEntries(rest) });
      }
    db.destroy("blob", ref);
  },
};

function addBlob(
  { db, clock }: CallContext,
  className: string,
  [ref, name, mime_type]: readonly string[],
): string {
  const blobs = db.get(className, ref!)["blobs"] as Readonly<
    Record<string, string>
  >;
  if (Object.hasOwn(blobs, name!))
    throw new XapiFailure("BLOB_ALREADY_EXISTS", [name!]);
  const blob = db.create("blob", {
    name_label: name!,
    mime_type: mime_type!,
    size: 0,
    last_updated: toDatetime(clock.now()),
  });
  db.update(className, ref!, { blobs: { ...blobs, [name!]: blob } });
  return blob;
}
