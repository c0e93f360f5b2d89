import { classNameOf, datamodel } from "@xo-server/model";
import { toDatetime } from "../clock.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiMap, XapiRecord } from "../xapi-value.js";
import type { CoreTable } from "./core.js";

/** The messages of class message: alerts, stored beside the database. */
export const messageMessages: CoreTable = {
  "message.create": ({ db, clock }, params) => {
    const [name, priority, cls, uuid, body] = params as [
      string,
      number,
      string,
      string,
      string,
    ];
    const className = classNameOf(cls);
    const known = Object.hasOwn(datamodel.classes, className);
    if (known && db.byUuid(className, uuid) === undefined)
      throw new XapiFailure("UUID_INVALID", [cls, uuid]);
    return db.create("message", {
      name,
      priority,
      cls,
      obj_uuid: uuid,
      timestamp: toDatetime(clock.now()),
      body,
    });
  },
  "message.destroy": ({ db }, [ref]) => db.destroy("message", ref as string),
  "message.destroy_many": ({ db }, [refs]) => {
    for (const ref of refs as string[]) db.destroy("message", ref);
  },
  "message.destroy_all": ({ db }, [filters]) => {
    const requested = Object.entries(filters as XapiMap);
    for (const [ref, record] of [...db.records("message")])
      if (requested.every(([name, value]) => record[name] === value))
        db.destroy("message", ref);
  },
  "message.get": ({ db }, params) => {
    const [cls, uuid, since] = params as [string, string, string];
    const className = classNameOf(cls);
    if (
      !Object.hasOwn(datamodel.classes, className) ||
      db.byUuid(className, uuid) === undefined
    )
      throw new XapiFailure("UUID_INVALID");
    return select(
      db.records("message"),
      (record) =>
        record["cls"] === cls &&
        record["obj_uuid"] === uuid &&
        isSince(record, since),
    );
  },
  "message.get_since": ({ db }, [since]) =>
    select(db.records("message"), (record) => isSince(record, since as string)),
};

/** XAPI's datetimes sort as text. */
function isSince(record: XapiRecord, since: string): boolean {
  return (record["timestamp"] as string) >= since.replace(/-/g, "");
}

function select(
  records: Iterable<[string, XapiRecord]>,
  requested: (record: XapiRecord) => boolean,
): XapiMap {
  return Object.fromEntries(
    [...records].filter(([, record]) => requested(record)),
  );
}
